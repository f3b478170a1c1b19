-- Which migrations a schema has seen, and the oldest client that each version still serves.

CREATE TABLE {schema}.horsies_schema (
    version integer PRIMARY KEY,
    oldest_client integer NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

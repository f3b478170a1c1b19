-- What workers say of themselves, and who is suspended. Everything has a default: workers that do
-- not know of it go on beating.

ALTER TABLE {schema}.horsies_workers
    ADD COLUMN beat_at timestamptz,
    ADD COLUMN left_at timestamptz,  -- said goodbye; without it, a lease that lapsed is a loss
    ADD COLUMN hears boolean NOT NULL DEFAULT false,
    ADD COLUMN pinged_at timestamptz,
    ADD COLUMN caps jsonb NOT NULL DEFAULT '{{}}',  -- max_concurrency by queue, as it was configured
    ADD COLUMN running integer NOT NULL DEFAULT 0,
    ADD COLUMN claimed integer NOT NULL DEFAULT 0,
    ADD COLUMN places integer NOT NULL DEFAULT 0,
    ADD COLUMN memory_bytes bigint NOT NULL DEFAULT 0,
    ADD COLUMN cpu_share real NOT NULL DEFAULT 0,  -- since the last beat; 1 is one core
    ADD COLUMN horsies_version text,
    ADD COLUMN python_version text,
    ADD COLUMN schema_version integer;

-- By name, because ids are fresh at each start. The empty name stands for everybody.
CREATE TABLE {schema}.horsies_suspensions (
    worker_name text PRIMARY KEY CHECK (octet_length(worker_name) <= 255),
    suspended_at timestamptz NOT NULL
);

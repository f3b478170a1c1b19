-- Old signs of life.
DELETE FROM {schema}.horsies_heartbeats WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM {schema}.horsies_heartbeats
    WHERE sent_at < %(before)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))

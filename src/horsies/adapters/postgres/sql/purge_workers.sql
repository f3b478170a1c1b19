-- Workers that left long ago.
DELETE FROM {schema}.horsies_workers WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM {schema}.horsies_workers
    WHERE lease_until < %(before)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))

-- Idempotency keys whose window is over.
DELETE FROM {schema}.horsies_idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM {schema}.horsies_idempotency_keys
    WHERE expires_at <= %(now)s LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))

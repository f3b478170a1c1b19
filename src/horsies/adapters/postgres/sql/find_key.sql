-- Whom a key names, as long as its window lasts.
SELECT task_id, encode(fingerprint, 'hex') FROM {schema}.horsies_idempotency_keys
WHERE task_name = %(task_name)s AND key = %(key)s
    AND expires_at > coalesce(%(now)s::timestamptz, statement_timestamp())

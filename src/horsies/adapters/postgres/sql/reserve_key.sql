-- The key belongs to this send if nobody holds it, or its window is over. No row: it is taken.
INSERT INTO {schema}.horsies_idempotency_keys AS held
    (task_name, key, task_id, fingerprint, expires_at)
VALUES (
    %(task_name)s, %(key)s, %(task_id)s::uuid, decode(%(fingerprint)s::text, 'hex'),
    coalesce(%(now)s::timestamptz, statement_timestamp()) + make_interval(secs => %(window)s)
)
ON CONFLICT (task_name, key) DO UPDATE
    SET task_id = excluded.task_id,
        fingerprint = excluded.fingerprint,
        expires_at = excluded.expires_at
    WHERE held.expires_at <= coalesce(%(now)s::timestamptz, statement_timestamp())
RETURNING task_id

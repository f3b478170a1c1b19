-- Claimers under a cap take turns until their commit; this is the one wait that may last.
SELECT set_config('lock_timeout', '0', true),
    pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 0))::text

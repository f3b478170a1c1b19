-- Waiting tasks whose time has passed.
SELECT {live_columns} FROM {schema}.horsies_tasks
WHERE status = 'PENDING' AND good_until IS NOT NULL AND good_until <= %(now)s
ORDER BY good_until LIMIT %(limit)s FOR UPDATE SKIP LOCKED

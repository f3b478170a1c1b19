-- Waiting tasks that no worker has understood since before an instant.
SELECT {live_columns} FROM {schema}.horsies_tasks
WHERE status = 'PENDING' AND unresolved_since IS NOT NULL AND unresolved_since <= %(before)s
ORDER BY unresolved_since LIMIT %(limit)s FOR UPDATE SKIP LOCKED

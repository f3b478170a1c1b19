-- Everyone who has not been forgotten.
SELECT id, name, hostname, pid, queues, started_at, lease_until, state, current_tasks
FROM {schema}.horsies_workers ORDER BY started_at

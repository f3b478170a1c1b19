-- The earliest lease among the other workers that hold tasks, of those that end later.
SELECT min(worker.lease_until) FROM {schema}.horsies_workers AS worker
WHERE worker.id <> %(worker)s
    AND (%(after)s::timestamptz IS NULL OR worker.lease_until > %(after)s)
    AND EXISTS (SELECT FROM {schema}.horsies_tasks AS task WHERE task.worker_id = worker.id)

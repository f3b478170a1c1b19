-- Held tasks without a sign of life since an instant, and whose they are.
SELECT task.id, task.status, worker.hostname, worker.pid, beat.last
FROM {schema}.horsies_tasks AS task
LEFT JOIN {schema}.horsies_workers AS worker ON worker.id = task.worker_id
CROSS JOIN LATERAL (
    SELECT max(sent_at) AS last FROM {schema}.horsies_heartbeats AS given
    WHERE given.task_id = task.id AND given.epoch = task.epoch
) AS beat
WHERE task.worker_id IS NOT NULL
    AND greatest(task.claimed_at, task.started_at, beat.last) <= %(since)s
ORDER BY task.claimed_at, task.id

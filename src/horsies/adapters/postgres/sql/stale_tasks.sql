-- Tasks without a sign of life since `silent`, or whose worker's lease had ended by `lapsed`.
-- Silence does not hang on the worker's row, which may be gone.
SELECT {live_columns} FROM {schema}.horsies_tasks AS task
WHERE task.worker_id IS NOT NULL AND task.status = %(status)s
    AND (
        greatest(
            task.claimed_at,
            task.started_at,
            (
                SELECT max(beat.sent_at + interval '0') FROM {schema}.horsies_heartbeats AS beat
                WHERE beat.task_id = task.id AND beat.epoch = task.epoch
            )
        ) <= %(silent)s::timestamptz
        OR EXISTS (
            SELECT FROM {schema}.horsies_workers AS worker
            WHERE worker.id = task.worker_id AND worker.lease_until <= %(lapsed)s::timestamptz
        )
    )
LIMIT %(limit)s
FOR UPDATE OF task SKIP LOCKED

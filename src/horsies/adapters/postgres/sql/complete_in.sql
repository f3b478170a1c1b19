-- A task is ended by its own run, in a transaction of its own code.
-- Whoever waits for it is told when that commits. No row: it is not this run's to end.
WITH moved AS (
    DELETE FROM {schema}.horsies_tasks AS task
    WHERE task.id = %(id)s::uuid AND task.epoch = %(epoch)s::int AND task.status = 'RUNNING'
        AND task.workflow_id IS NULL
    RETURNING task.id, task.task_name, task.queue_name, task.args, task.priority, task.terms,
        task.result_ttl, task.good_until, task.headers, task.retry_of, task.sent_at,
        task.enqueued_at, 'COMPLETED', task.epoch, task.attempt, task.retries, task.crashes,
        task.worker_id, task.claimed_at, task.started_at, task.next_retry_at,
        task.cancel_requested_at, task.unresolved_since, NULL::text, task.unique_key,
        task.concurrency_key, task.fairness_key, task.workflow_id,
        coalesce(%(now)s::timestamptz, clock_timestamp()) AS finished_at,
        coalesce(%(now)s::timestamptz, clock_timestamp()) + task.result_ttl, %(result)s::text
), ended AS (
    INSERT INTO {schema}.horsies_task_history ({history_columns})
    SELECT * FROM moved
    RETURNING id
)
SELECT CASE WHEN %(notify)s::boolean AND pg_notification_queue_usage() < 0.5
    THEN pg_notify(%(channel)s::text, replace(id::text, '-', ''))::text
END
FROM ended

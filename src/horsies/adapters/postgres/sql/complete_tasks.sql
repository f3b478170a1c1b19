-- The common end in one statement: what still runs under its epoch moves to history.
WITH done AS (
    SELECT * FROM unnest(%(ids)s::uuid[], %(epochs)s::int[], %(results)s::text[])
        AS given (id, epoch, result)
), moved AS (
    DELETE FROM {schema}.horsies_tasks AS task USING done
    WHERE task.id = done.id AND task.epoch = done.epoch AND task.status = 'RUNNING'
    RETURNING task.id, task.task_name, task.queue_name, task.args, task.priority, task.terms,
        task.result_ttl, task.good_until, task.headers, task.retry_of, task.sent_at,
        task.enqueued_at, 'COMPLETED', task.epoch, task.attempt, task.retries, task.crashes,
        task.worker_id, task.claimed_at, task.started_at, task.next_retry_at,
        task.cancel_requested_at, task.unresolved_since, NULL::text, task.unique_key,
        task.concurrency_key, task.fairness_key, task.workflow_id, %(now)s::timestamptz,
        %(now)s::timestamptz + task.result_ttl, done.result
)
INSERT INTO {schema}.horsies_task_history ({history_columns})
SELECT * FROM moved
RETURNING id

-- Tasks that the domain has ended move to history; the epoch is the fence.
WITH ended AS (
    SELECT * FROM unnest(
        %(id)s::uuid[], %(epoch)s::int[], %(status)s::text[], %(attempt)s::int[],
        %(crashes)s::int[], %(started_at)s::timestamptz[], %(cancel_requested_at)s::timestamptz[],
        %(error_code)s::text[], %(finished_at)s::timestamptz[], %(result)s::text[]
    ) AS given (
        id, epoch, status, attempt, crashes, started_at, cancel_requested_at,
        error_code, finished_at, result
    )
), moved AS (
    DELETE FROM {schema}.horsies_tasks AS task USING ended
    WHERE task.id = ended.id AND task.epoch = ended.epoch
    RETURNING task.id, task.task_name, task.queue_name, task.args, task.priority, task.terms,
        task.result_ttl, task.good_until, task.headers, task.retry_of, task.sent_at,
        task.enqueued_at, ended.status, task.epoch, ended.attempt, task.retries, ended.crashes,
        task.worker_id, task.claimed_at, ended.started_at, task.next_retry_at,
        ended.cancel_requested_at, task.unresolved_since, ended.error_code, task.unique_key,
        task.concurrency_key, task.fairness_key, task.workflow_id, ended.finished_at,
        ended.finished_at + task.result_ttl AS purge_at, ended.result
)
INSERT INTO {schema}.horsies_task_history ({history_columns})
SELECT * FROM moved

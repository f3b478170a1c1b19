-- One step of a worker: what it has completed moves to history, and the next tasks become its own.
-- Tasks come as rows; a last row without an id says what could not be completed, whether a queue has
-- run dry, and the time.
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
        task.concurrency_key, task.fairness_key, task.workflow_id,
        coalesce(%(now)s::timestamptz, statement_timestamp()),
        coalesce(%(now)s::timestamptz, statement_timestamp()) + task.result_ttl, done.result
), kept AS (
    INSERT INTO {schema}.horsies_task_history ({history_columns})
    SELECT * FROM moved
), share AS (
    SELECT given.*
    FROM unnest(
        %(queues)s::text[], %(tiers)s::int[], %(limits)s::int[],
        %(mark_priorities)s::smallint[], %(mark_times)s::timestamptz[], %(mark_ids)s::uuid[]
    ) AS given (queue_name, tier, most, mark_priority, mark_time, mark_id)
    WHERE NOT EXISTS (
        SELECT FROM {schema}.horsies_queues AS stopped
        WHERE stopped.name = given.queue_name AND stopped.paused_at IS NOT NULL
    )
), {part:take}, ranked AS (
    SELECT ctid, light, row_number() OVER (ORDER BY tier, priority, enqueued_at, id) AS place
    FROM seen
), taken AS (
    -- Beyond the places only a head that is light throughout is taken: nothing overtakes a task that
    -- has to wait for a place of its own.
    SELECT ctid FROM ranked WHERE place < greatest(
        %(places)s + 1,
        coalesce((SELECT min(place) FROM ranked WHERE NOT light), %(limit)s + 1)
    )
), claimed AS (
    UPDATE {schema}.horsies_tasks
    SET status = CASE WHEN %(start)s THEN 'RUNNING' ELSE 'CLAIMED' END,
        epoch = epoch + 1,
        attempt = attempt + (%(start)s)::int,
        worker_id = %(worker)s,
        claimed_at = coalesce(%(now)s::timestamptz, statement_timestamp()),
        started_at = CASE WHEN %(start)s
            THEN coalesce(%(now)s::timestamptz, statement_timestamp()) END,
        claimable = false,
        next_retry_at = NULL,
        error_code = NULL
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM taken))
    RETURNING {claimed_columns}
), announced AS (
    SELECT count(pg_notify(%(channel)s, payload))
    FROM unnest(%(announcements)s::text[]) AS payload
    WHERE pg_notification_queue_usage() < 0.5
)
SELECT {claimed_columns} FROM claimed
UNION ALL
SELECT NULL, NULL, NULL, NULL,
    json_build_object(
        'missed', CASE WHEN (SELECT count(*) FROM moved) < cardinality(%(ids)s::uuid[]) THEN (
            SELECT array_agg(id) FROM done WHERE id <> ALL (ARRAY(SELECT id FROM moved))
        ) END,
        'seen', (SELECT count(*) FROM seen),
        'announced', (SELECT * FROM announced)
    )::text,
    NULL, NULL, NULL, NULL, coalesce(%(now)s::timestamptz, statement_timestamp()),
    NULL, NULL, NULL, NULL, NULL, NULL, NULL

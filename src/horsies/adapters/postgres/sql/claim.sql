-- Take the next tasks of several queues in the order tier, priority, eligible time, id.
-- A look without locks shares the limit out among the queues, so that no more rows are locked than
-- are taken; what others hold at this moment is passed over, not waited for.
WITH share AS (
    SELECT given.queue_name, given.tier, given.most
    FROM unnest(%(queues)s::text[], %(tiers)s::int[], %(limits)s::int[])
        AS given (queue_name, tier, most)
    WHERE NOT EXISTS (
        SELECT FROM {schema}.horsies_queues AS stopped
        WHERE stopped.name = given.queue_name AND stopped.paused_at IS NOT NULL
    )
), quota AS (
    SELECT queue_name, count(*) AS most
    FROM (
        SELECT share.queue_name
        FROM share CROSS JOIN LATERAL (
            SELECT task.priority, task.enqueued_at, task.id
            FROM {schema}.horsies_tasks AS task
            WHERE task.claimable AND task.queue_name = share.queue_name
                AND (task.good_until IS NULL OR task.good_until > %(now)s)
                AND task.task_name <> ALL (%(excluded)s::text[])
            ORDER BY task.priority, task.enqueued_at, task.id
            LIMIT share.most
        ) AS seen
        ORDER BY share.tier, seen.priority, seen.enqueued_at, seen.id
        LIMIT %(limit)s
    ) AS best
    GROUP BY queue_name
), taken AS (
    SELECT locked.ctid, quota.queue_name
    FROM quota CROSS JOIN LATERAL (
        SELECT task.ctid
        FROM {schema}.horsies_tasks AS task
        WHERE task.claimable AND task.queue_name = quota.queue_name
            AND (task.good_until IS NULL OR task.good_until > %(now)s)
            AND task.task_name <> ALL (%(excluded)s::text[])
        ORDER BY task.priority, task.enqueued_at, task.id
        LIMIT quota.most
        FOR UPDATE SKIP LOCKED
    ) AS locked
), more AS (
    -- What the look counted may be held by others; whoever else is free takes its place.
    SELECT locked.ctid
    FROM share CROSS JOIN LATERAL (
        SELECT task.ctid
        FROM {schema}.horsies_tasks AS task
        WHERE task.claimable AND task.queue_name = share.queue_name
            AND (task.good_until IS NULL OR task.good_until > %(now)s)
            AND task.task_name <> ALL (%(excluded)s::text[])
            AND task.ctid <> ALL (ARRAY(SELECT ctid FROM taken))
        ORDER BY task.priority, task.enqueued_at, task.id
        LIMIT least(
            %(limit)s - (SELECT count(*) FROM taken),
            share.most - (SELECT count(*) FROM taken WHERE queue_name = share.queue_name)
        )
        FOR UPDATE SKIP LOCKED
    ) AS locked
    LIMIT %(limit)s - (SELECT count(*) FROM taken)
)
UPDATE {schema}.horsies_tasks
SET status = CASE WHEN %(start)s THEN 'RUNNING' ELSE 'CLAIMED' END,
    epoch = epoch + 1,
    attempt = attempt + (%(start)s)::int,
    worker_id = %(worker)s,
    claimed_at = %(now)s,
    started_at = CASE WHEN %(start)s THEN %(now)s::timestamptz END,
    claimable = false,
    next_retry_at = NULL,
    error_code = NULL
WHERE ctid = ANY (ARRAY(SELECT ctid FROM taken UNION ALL SELECT ctid FROM more))
RETURNING {live_columns}

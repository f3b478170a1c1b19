-- A look without locks shares the limit out among the queues, so that no more rows are locked than
-- are taken; what others hold at this moment is passed over, not waited for.
quota AS (
    SELECT queue_name, tier, mark_priority, mark_time, mark_id, count(*) AS most
    FROM (
        SELECT share.*
        FROM share CROSS JOIN LATERAL (
            SELECT task.priority, task.enqueued_at, task.id
            FROM {schema}.horsies_tasks AS task
            WHERE {part:fits}
            ORDER BY task.priority, task.enqueued_at, task.id
            LIMIT share.most
        ) AS looked
        ORDER BY share.tier, looked.priority, looked.enqueued_at, looked.id
        LIMIT %(limit)s
    ) AS best
    GROUP BY queue_name, tier, mark_priority, mark_time, mark_id
), first AS (
    SELECT share.tier, share.queue_name, locked.*
    FROM quota AS share CROSS JOIN LATERAL (
        SELECT task.ctid, task.priority, task.enqueued_at, task.id, {part:light} AS light
        FROM {schema}.horsies_tasks AS task
        WHERE {part:fits}
        ORDER BY task.priority, task.enqueued_at, task.id
        LIMIT share.most
        FOR UPDATE SKIP LOCKED
    ) AS locked
), more AS (
    -- What the look counted may be held by others; whoever else is free takes its place.
    SELECT share.tier, share.queue_name, locked.*
    FROM share CROSS JOIN LATERAL (
        SELECT task.ctid, task.priority, task.enqueued_at, task.id, {part:light} AS light
        FROM {schema}.horsies_tasks AS task
        WHERE {part:fits} AND task.ctid <> ALL (ARRAY(SELECT ctid FROM first))
        ORDER BY task.priority, task.enqueued_at, task.id
        LIMIT least(
            %(limit)s - (SELECT count(*) FROM first),
            share.most - (SELECT count(*) FROM first WHERE queue_name = share.queue_name)
        )
        FOR UPDATE SKIP LOCKED
    ) AS locked
    LIMIT %(limit)s - (SELECT count(*) FROM first)
), seen AS (
    SELECT * FROM first UNION ALL SELECT * FROM more
)

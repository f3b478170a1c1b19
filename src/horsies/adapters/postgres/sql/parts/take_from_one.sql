seen AS (
    SELECT share.tier, locked.*
    FROM share CROSS JOIN LATERAL (
        SELECT task.ctid, task.priority, task.enqueued_at, task.id, {part:light} AS light
        FROM {schema}.horsies_tasks AS task
        WHERE {part:fits}
        ORDER BY task.priority, task.enqueued_at, task.id
        LIMIT least(share.most, %(limit)s)
        FOR UPDATE SKIP LOCKED
    ) AS locked
)

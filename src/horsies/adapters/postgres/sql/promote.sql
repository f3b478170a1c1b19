-- Due tasks enter the index that claims scan: of each queue the earliest, up to the limit in all.
UPDATE {schema}.horsies_tasks SET claimable = true
WHERE ctid = ANY (ARRAY(
    SELECT due.ctid
    FROM unnest(%(queues)s::text[]) AS queue (name) CROSS JOIN LATERAL (
        SELECT task.ctid FROM {schema}.horsies_tasks AS task
        WHERE NOT task.claimable AND task.status = 'PENDING'
            AND task.queue_name = queue.name AND task.enqueued_at <= %(now)s
        ORDER BY task.enqueued_at, task.id
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(limit)s
))

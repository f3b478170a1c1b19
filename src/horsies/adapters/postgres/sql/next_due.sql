-- When the next task that waits for its time becomes eligible: one index entry per queue.
SELECT min(first.enqueued_at)
FROM unnest(%(queues)s::text[]) AS queue (name) CROSS JOIN LATERAL (
    SELECT task.enqueued_at FROM {schema}.horsies_tasks AS task
    WHERE NOT task.claimable AND task.status = 'PENDING' AND task.queue_name = queue.name
    ORDER BY task.enqueued_at LIMIT 1
) AS first

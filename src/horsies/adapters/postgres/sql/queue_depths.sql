-- How much is in each queue that holds live tasks or is paused. Reads every live task: for people.
SELECT coalesce(depth.queue_name, stopped.name),
    coalesce(depth.waiting, 0), coalesce(depth.delayed, 0),
    coalesce(depth.claimed, 0), coalesce(depth.running, 0),
    depth.oldest, stopped.paused_at
FROM (
    SELECT queue_name,
        count(*) FILTER (WHERE claimable) AS waiting,
        count(*) FILTER (WHERE status = 'PENDING' AND NOT claimable) AS delayed,
        count(*) FILTER (WHERE status = 'CLAIMED') AS claimed,
        count(*) FILTER (WHERE status = 'RUNNING') AS running,
        min(enqueued_at) FILTER (WHERE claimable) AS oldest
    FROM {schema}.horsies_tasks
    GROUP BY queue_name
) AS depth
FULL JOIN (
    SELECT name, paused_at FROM {schema}.horsies_queues WHERE paused_at IS NOT NULL
) AS stopped ON stopped.name = depth.queue_name
ORDER BY coalesce(depth.queue_name, stopped.name) COLLATE "C"

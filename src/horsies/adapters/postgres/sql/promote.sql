-- Due tasks enter the index that claims scan, earliest first.
UPDATE {schema}.horsies_tasks SET claimable = true
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM {schema}.horsies_tasks
    WHERE NOT claimable AND status = 'PENDING'
        AND queue_name = ANY (%(queues)s::text[]) AND enqueued_at <= %(now)s
    ORDER BY enqueued_at, id
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
))

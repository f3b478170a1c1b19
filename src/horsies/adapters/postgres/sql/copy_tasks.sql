-- Many tasks that nobody can have sent before.
COPY {schema}.horsies_tasks
    (id, args, task_name, queue_name, priority, terms, result_ttl, good_until, headers, retry_of,
     sent_at, enqueued_at, claimable)
FROM STDIN

task.claimable AND task.queue_name = share.queue_name
    AND (task.priority, task.enqueued_at, task.id)
        >= (share.mark_priority, share.mark_time, share.mark_id)
    AND (task.good_until IS NULL
        OR task.good_until > coalesce(%(now)s::timestamptz, statement_timestamp()))
    AND task.task_name <> ALL (%(excluded)s::text[])
    AND task.id <> ALL (%(passed_over)s::uuid[])

-- Those that may be handed out before a place is free.
task.task_name = ANY (%(light)s::text[]) AND task.crashes = 0 AND task.good_until IS NULL
    AND task.concurrency_key IS NULL AND task.terms NOT LIKE '%%"timeout_ms"%%'

-- Those that may be handed out before a place is free; of plain SQL's, nobody knows the terms yet.
(task.task_name = ANY (%(light)s::text[]) AND task.crashes = 0 AND task.good_until IS NULL
    AND task.concurrency_key IS NULL AND task.terms NOT LIKE '%%"timeout_ms"%%') IS TRUE

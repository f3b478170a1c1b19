-- Read after the insert: while the insert waited, the first copy may have moved to history.
SELECT id, task_name, args FROM {schema}.horsies_task_history WHERE id = ANY(%(ids)s::uuid[])

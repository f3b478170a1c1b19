-- Earlier copies of these sends, live or ended.
SELECT id, task_name, args FROM {schema}.horsies_tasks WHERE id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT id, task_name, args FROM {schema}.horsies_task_history WHERE id = ANY(%(ids)s::uuid[])

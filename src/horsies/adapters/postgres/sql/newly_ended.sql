-- Which of the tasks that somebody waits for have ended.
SELECT id FROM {schema}.horsies_task_history WHERE id = ANY (%(ids)s::uuid[])

-- Live tasks for change. Sorted, so that two who lock the same rows cannot hold each other up.
SELECT {live_columns} FROM {schema}.horsies_tasks
WHERE id = ANY (%(ids)s::uuid[]) ORDER BY id FOR UPDATE

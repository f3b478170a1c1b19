-- Live tasks by id.
SELECT {live_columns} FROM {schema}.horsies_tasks WHERE id = ANY (%(ids)s::uuid[])

-- Ended tasks by id.
SELECT {ended_columns} FROM {schema}.horsies_task_history WHERE id = ANY (%(ids)s::uuid[])

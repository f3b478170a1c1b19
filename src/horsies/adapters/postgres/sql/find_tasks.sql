-- Tasks by id, live and ended as one: a move to history between two statements would be missed.
SELECT {live_columns} FROM {schema}.horsies_tasks WHERE id = ANY (%(ids)s::uuid[])
UNION ALL
SELECT {ended_columns} FROM {schema}.horsies_task_history WHERE id = ANY (%(ids)s::uuid[])

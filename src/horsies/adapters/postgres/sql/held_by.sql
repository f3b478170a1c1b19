-- All that is held in a worker's name.
SELECT {live_columns} FROM {schema}.horsies_tasks WHERE worker_id = %(worker)s

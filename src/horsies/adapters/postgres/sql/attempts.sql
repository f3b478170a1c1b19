-- Every begun run of a task that has ended, in order.
SELECT task_id, epoch, number, worker_id, started_at, finished_at, error_code, result
FROM {schema}.horsies_task_attempts WHERE task_id = %(id)s ORDER BY epoch

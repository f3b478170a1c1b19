-- Tasks of a queue that workers hold and have not begun; who is just beginning one may go on.
SELECT id, epoch FROM {schema}.horsies_tasks
WHERE worker_id IS NOT NULL AND queue_name = %(queue)s AND status = 'CLAIMED'
ORDER BY id
FOR UPDATE SKIP LOCKED

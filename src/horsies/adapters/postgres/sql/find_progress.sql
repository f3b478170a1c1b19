-- What the present run of a task has told.
SELECT progress, progress_note FROM {schema}.horsies_tasks
WHERE id = %(id)s AND status = 'RUNNING' AND progress_epoch = epoch

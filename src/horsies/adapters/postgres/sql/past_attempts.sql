-- What is on record of these runs.
SELECT past.task_id, past.epoch, past.number, past.worker_id, past.started_at, past.finished_at,
    past.error_code, past.result
FROM unnest(%(ids)s::uuid[], %(epochs)s::int[]) AS given (id, epoch)
JOIN {schema}.horsies_past_attempts AS past
    ON past.task_id = given.id AND past.epoch = given.epoch

-- What runs tell of themselves. Who holds a row may be ending it: nobody waits for that.
WITH told AS (
    SELECT * FROM unnest(
        %(ids)s::uuid[], %(epochs)s::int[], %(fractions)s::float8[], %(notes)s::text[]
    ) AS given (id, epoch, fraction, note)
), free AS (
    SELECT task.id, told.epoch, told.fraction, told.note
    FROM told JOIN {schema}.horsies_tasks AS task ON task.id = told.id
    WHERE task.epoch = told.epoch AND task.status = 'RUNNING'
    FOR NO KEY UPDATE OF task SKIP LOCKED
)
UPDATE {schema}.horsies_tasks AS task
SET progress = free.fraction, progress_note = free.note, progress_epoch = free.epoch
FROM free
WHERE task.id = free.id

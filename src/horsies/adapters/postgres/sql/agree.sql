-- Tasks from plain SQL get the terms of the worker that claims them.
UPDATE {schema}.horsies_tasks AS task
SET terms = agreed.terms, result_ttl = agreed.lifetime
FROM unnest(%(ids)s::uuid[], %(epochs)s::int[], %(terms)s::text[], %(lifetimes)s::interval[])
    AS agreed (id, epoch, terms, lifetime)
WHERE task.id = agreed.id AND task.epoch = agreed.epoch AND task.terms IS NULL

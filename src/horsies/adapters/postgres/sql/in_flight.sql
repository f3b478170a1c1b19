-- What all workers together hold. Its own statement: it has to see what the last holder committed.
SELECT queue_name, count(*) FROM {schema}.horsies_tasks
WHERE worker_id IS NOT NULL GROUP BY queue_name

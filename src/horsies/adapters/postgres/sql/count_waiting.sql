-- How many tasks wait in a queue, not counting further than the answer needs.
SELECT (
    SELECT count(*) FROM (
        SELECT 1 FROM {schema}.horsies_tasks
        WHERE claimable AND queue_name = %(queue_name)s LIMIT %(enough)s
    ) AS ready
) + (
    SELECT count(*) FROM (
        SELECT 1 FROM {schema}.horsies_tasks
        WHERE NOT claimable AND status = 'PENDING' AND queue_name = %(queue_name)s LIMIT %(enough)s
    ) AS waiting
)

-- Runs that are followed by another.
INSERT INTO {schema}.horsies_past_attempts
    (task_id, epoch, number, worker_id, started_at, finished_at, error_code, result)
SELECT * FROM unnest(
    %(task_id)s::uuid[], %(epoch)s::int[], %(number)s::int[], %(worker_id)s::uuid[],
    %(started_at)s::timestamptz[], %(finished_at)s::timestamptz[], %(error_code)s::text[],
    %(result)s::text[]
)

-- Tasks that differ in nothing but their ids and arguments, in one statement.
-- Without a given instant the database's clock decides what is due: producers' clocks do not count.
WITH instant AS (
    SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now
), due AS (
    SELECT now, greatest(now, coalesce(%(eta)s::timestamptz, now + make_interval(secs => %(delay)s))) AS at
    FROM instant
)
INSERT INTO {schema}.horsies_tasks
    (id, task_name, queue_name, args, priority, terms, result_ttl, good_until, headers, retry_of,
     sent_at, enqueued_at, claimable)
SELECT given.id, %(task_name)s::text, %(queue_name)s::text, given.args, %(priority)s::smallint,
    %(terms)s::text, %(result_ttl)s::interval, %(good_until)s::timestamptz, %(headers)s::text::jsonb,
    %(retry_of)s::uuid, due.now, due.at, due.at <= due.now
FROM due, unnest(%(ids)s::uuid[], %(args)s::text[]) AS given (id, args)
ON CONFLICT (id) DO NOTHING

-- One task that nobody can have sent before, the commonest send of all.
-- Without a given instant the database's clock decides what is due: producers' clocks do not count.
INSERT INTO {schema}.horsies_tasks
    (id, args, task_name, queue_name, priority, terms, result_ttl, good_until, headers, retry_of,
     sent_at, enqueued_at, claimable)
SELECT $1::uuid, $2::text, $3::text, $4::text, $5::smallint, $6::text, $7::interval,
    $8::timestamptz, $9::text::jsonb, $10::uuid, due.now, due.at, due.at <= due.now
FROM (
    SELECT now, greatest(now, coalesce($11::timestamptz, now + make_interval(secs => $12))) AS at
    FROM (SELECT coalesce($13::timestamptz, statement_timestamp()) AS now) AS instant
) AS due

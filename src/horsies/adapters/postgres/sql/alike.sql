-- What tasks that differ only in ids and arguments have in common, as COPY wants to read it.
-- Without a given instant the database's clock decides what is due: producers' clocks do not count.
SELECT $1::text, $2::text, $3::smallint::text, $4::text, $5::interval::text,
    $6::timestamptz::text, $7::text, $8::uuid::text,
    due.now::text, due.at::text, (due.at <= due.now)::text
FROM (
    SELECT now, greatest(now, coalesce($9::timestamptz, now + make_interval(secs => $10))) AS at
    FROM (SELECT coalesce($11::timestamptz, statement_timestamp()) AS now) AS instant
) AS due

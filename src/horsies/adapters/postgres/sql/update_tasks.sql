-- Live tasks as the domain has changed them; the epoch is the fence.
UPDATE {schema}.horsies_tasks AS task
SET status = changed.status,
    enqueued_at = changed.enqueued_at,
    claimable = changed.claimable,
    attempt = changed.attempt,
    retries = changed.retries,
    crashes = changed.crashes,
    worker_id = changed.worker_id,
    claimed_at = changed.claimed_at,
    started_at = changed.started_at,
    next_retry_at = changed.next_retry_at,
    cancel_requested_at = changed.cancel_requested_at,
    unresolved_since = changed.unresolved_since,
    error_code = changed.error_code
FROM unnest(
    %(id)s::uuid[], %(epoch)s::int[], %(status)s::text[], %(enqueued_at)s::timestamptz[],
    %(claimable)s::boolean[], %(attempt)s::int[], %(retries)s::int[], %(crashes)s::int[],
    %(worker_id)s::uuid[], %(claimed_at)s::timestamptz[], %(started_at)s::timestamptz[],
    %(next_retry_at)s::timestamptz[], %(cancel_requested_at)s::timestamptz[],
    %(unresolved_since)s::timestamptz[], %(error_code)s::text[]
) AS changed (
    id, epoch, status, enqueued_at, claimable, attempt, retries, crashes, worker_id, claimed_at,
    started_at, next_retry_at, cancel_requested_at, unresolved_since, error_code
)
WHERE task.id = changed.id AND task.epoch = changed.epoch

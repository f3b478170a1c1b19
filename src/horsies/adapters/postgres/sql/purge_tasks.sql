-- Ended tasks past their own lifetime, or past the retention of all (NULL: kept for ever).
WITH old AS (
    SELECT ctid, id FROM {schema}.horsies_task_history
    WHERE purge_at IS NOT NULL AND purge_at <= %(now)s
    UNION ALL
    SELECT ctid, id FROM {schema}.horsies_task_history
    WHERE purge_at IS NULL AND finished_at <= %(now)s - %(retention)s::interval
    LIMIT %(limit)s
), attempts AS (
    DELETE FROM {schema}.horsies_past_attempts WHERE task_id = ANY (ARRAY(SELECT id FROM old))
)
DELETE FROM {schema}.horsies_task_history WHERE ctid = ANY (ARRAY(SELECT ctid FROM old))

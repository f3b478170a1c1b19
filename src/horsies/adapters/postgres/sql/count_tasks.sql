-- Live tasks by queue and status.
SELECT queue_name, status, count(*) FROM {schema}.horsies_tasks GROUP BY queue_name, status

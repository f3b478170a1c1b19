-- Which of the tasks that somebody waits for have ended. All workers are told that somebody waits.
SELECT id FROM {schema}.horsies_task_history WHERE id = ANY (%(ids)s::uuid[])
UNION ALL
SELECT NULL FROM pg_notification_queue_usage() AS usage
WHERE %(word)s::text IS NOT NULL AND usage < 0.5 AND pg_notify(%(channel)s, %(word)s) IS NOT NULL

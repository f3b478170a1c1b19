-- A queue of which nothing is to be claimed; since when is kept if it is so already.
INSERT INTO {schema}.horsies_queues (name, paused_at) VALUES (%(queue)s, %(now)s)
ON CONFLICT (name) DO UPDATE
    SET paused_at = coalesce(horsies_queues.paused_at, excluded.paused_at)

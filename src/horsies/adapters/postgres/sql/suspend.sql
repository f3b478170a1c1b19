-- A name that is to claim nothing; since when is kept if it is so already.
INSERT INTO {schema}.horsies_suspensions (worker_name, suspended_at) VALUES (%(name)s, %(now)s)
ON CONFLICT DO NOTHING

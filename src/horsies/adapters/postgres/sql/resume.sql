-- A name that may claim again, unless everybody is suspended.
DELETE FROM {schema}.horsies_suspensions WHERE worker_name = %(name)s

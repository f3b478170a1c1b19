-- A queue that is open again: what has no row is open.
DELETE FROM {schema}.horsies_queues WHERE name = %(queue)s AND paused_at IS NOT NULL

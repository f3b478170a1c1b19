-- The worker has left in good order: its lease ends now.
UPDATE {schema}.horsies_workers
SET lease_until = %(now)s, left_at = %(now)s, state = 'stopping' WHERE id = %(worker)s

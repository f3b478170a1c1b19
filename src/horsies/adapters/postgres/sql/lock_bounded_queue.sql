-- Senders to a bounded queue take turns, or two of them could fill the last place.
SELECT pg_advisory_xact_lock(hashtextextended(%(lock)s::text, 0))::text

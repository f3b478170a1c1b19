-- Whoever is suspended; the empty name stands for everybody.
SELECT worker_name FROM {schema}.horsies_suspensions

-- Nobody is suspended any more.
DELETE FROM {schema}.horsies_suspensions

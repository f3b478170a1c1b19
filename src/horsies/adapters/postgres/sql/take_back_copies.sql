-- Second copies that nobody has seen: this transaction made them.
DELETE FROM {schema}.horsies_tasks WHERE id = ANY(%(ids)s::uuid[])

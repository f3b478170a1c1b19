-- What this transaction lives by, where its connection has no settings of its own.
SELECT set_config(given.name, given.setting, true)
FROM unnest(%(names)s::text[], %(settings)s::text[]) AS given (name, setting)

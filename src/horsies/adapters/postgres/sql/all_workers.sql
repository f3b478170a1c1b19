-- Everyone who has not been forgotten.
SELECT id, name, hostname, pid, queues, started_at, lease_until, state, current_tasks, caps,
    running, claimed, places, memory_bytes, cpu_share,
    horsies_version, python_version, schema_version, hears, beat_at, pinged_at, left_at
FROM {schema}.horsies_workers ORDER BY started_at, id

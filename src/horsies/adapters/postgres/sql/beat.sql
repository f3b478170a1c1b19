-- A worker renews its lease and speaks for what it holds; what it holds no more gets no beat.
-- Those without a role are only asked about. There is always a row, which says if it may claim.
WITH renewed AS (
    INSERT INTO {schema}.horsies_workers (
        id, name, hostname, pid, queues, state, started_at, lease_until, current_tasks, caps,
        running, claimed, places, memory_bytes, cpu_share,
        horsies_version, python_version, schema_version, hears, pinged_at, beat_at
    )
    VALUES (
        %(worker)s, %(name)s, %(hostname)s, %(pid)s, %(queues)s::text[], %(state)s, %(started_at)s,
        %(now)s::timestamptz + %(lease)s::interval, %(current)s::uuid[], %(caps)s::jsonb,
        %(running)s, %(claimed)s, %(places)s, %(memory)s, %(cpu)s,
        %(horsies_version)s, %(python_version)s, %(schema_version)s, %(hears)s,
        %(pinged_at)s::timestamptz, %(now)s::timestamptz
    )
    ON CONFLICT (id) DO UPDATE
        SET name = excluded.name, queues = excluded.queues, state = excluded.state,
            lease_until = excluded.lease_until, current_tasks = excluded.current_tasks,
            caps = excluded.caps, running = excluded.running, claimed = excluded.claimed,
            places = excluded.places, memory_bytes = excluded.memory_bytes,
            cpu_share = excluded.cpu_share, hears = excluded.hears,
            pinged_at = excluded.pinged_at, beat_at = excluded.beat_at, left_at = NULL
), held AS (
    SELECT task.id, task.epoch, given.role, task.cancel_requested_at IS NOT NULL AS cancelling
    FROM unnest(%(ids)s::uuid[], %(epochs)s::int[], %(roles)s::text[]) AS given (id, epoch, role)
    JOIN {schema}.horsies_tasks AS task ON task.id = given.id AND task.epoch = given.epoch
    WHERE task.worker_id = %(worker)s
), beats AS (
    INSERT INTO {schema}.horsies_heartbeats
        (task_id, epoch, sender_id, role, sent_at, hostname, pid)
    SELECT id, epoch, %(worker)s::text, role, %(now)s, %(hostname)s, %(pid)s FROM held
    WHERE role IS NOT NULL
), known AS (
    SELECT id, epoch, cancelling FROM held
    UNION ALL  -- a run that has completed its task by itself may go on: that is no loss
    SELECT ended.id, ended.epoch, false
    FROM unnest(%(ids)s::uuid[], %(epochs)s::int[]) AS given (id, epoch)
    JOIN {schema}.horsies_task_history AS ended
        ON ended.id = given.id AND ended.epoch = given.epoch
    WHERE ended.worker_id = %(worker)s AND ended.status = 'COMPLETED'
), suspended AS (
    SELECT EXISTS (
        SELECT FROM {schema}.horsies_suspensions WHERE worker_name IN ('', %(name)s)
    ) AS so
)
SELECT suspended.so, known.id, known.epoch, known.cancelling FROM suspended LEFT JOIN known ON true

-- A worker renews its lease and speaks for what it holds; what it holds no more gets no beat.
WITH renewed AS (
    INSERT INTO {schema}.horsies_workers
        (id, name, hostname, pid, queues, state, started_at, lease_until, current_tasks)
    VALUES (
        %(worker)s, %(name)s, %(hostname)s, %(pid)s, %(queues)s::text[], %(state)s, %(started_at)s,
        %(now)s::timestamptz + %(lease)s::interval, %(current)s::uuid[]
    )
    ON CONFLICT (id) DO UPDATE
        SET name = excluded.name, queues = excluded.queues, state = excluded.state,
            lease_until = excluded.lease_until, current_tasks = excluded.current_tasks
), held AS (
    SELECT task.id, task.epoch, given.role, task.cancel_requested_at IS NOT NULL AS cancelling
    FROM unnest(%(ids)s::uuid[], %(epochs)s::int[], %(roles)s::text[]) AS given (id, epoch, role)
    JOIN {schema}.horsies_tasks AS task ON task.id = given.id AND task.epoch = given.epoch
    WHERE task.worker_id = %(worker)s
), beats AS (
    INSERT INTO {schema}.horsies_heartbeats
        (task_id, epoch, sender_id, role, sent_at, hostname, pid)
    SELECT id, epoch, %(worker)s::text, role, %(now)s, %(hostname)s, %(pid)s FROM held
)
SELECT id, epoch, cancelling FROM held

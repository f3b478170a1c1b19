-- The tables of a queue: live tasks, their history, and what workers say of themselves.

CREATE TABLE {schema}.horsies_tasks (
    id uuid PRIMARY KEY,
    task_name text NOT NULL CHECK (octet_length(task_name) BETWEEN 1 AND 255),
    queue_name text NOT NULL CHECK (octet_length(queue_name) BETWEEN 1 AND 63),
    args text NOT NULL,
    priority smallint NOT NULL DEFAULT 50 CHECK (priority BETWEEN 1 AND 100),
    terms text,  -- the snapshot of retries, timeout and failure handler; NULL: sent by plain SQL
    result_ttl interval,
    good_until timestamptz,
    headers jsonb,
    retry_of uuid,
    sent_at timestamptz NOT NULL,
    enqueued_at timestamptz NOT NULL,
    claimable boolean NOT NULL,
    status text NOT NULL DEFAULT 'PENDING',
    epoch integer NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    attempt integer NOT NULL DEFAULT 0 CHECK (attempt BETWEEN 0 AND epoch),
    retries smallint NOT NULL DEFAULT 0 CHECK (retries BETWEEN 0 AND attempt),
    crashes smallint NOT NULL DEFAULT 0 CHECK (crashes BETWEEN 0 AND attempt),
    worker_id uuid,
    claimed_at timestamptz,
    started_at timestamptz,
    next_retry_at timestamptz,
    cancel_requested_at timestamptz,
    unresolved_since timestamptz,
    error_code text,
    unique_key text,
    concurrency_key text,
    fairness_key text,
    workflow_id uuid,
    CONSTRAINT horsies_tasks_status CHECK (status IN ('PENDING', 'CLAIMED', 'RUNNING')),
    -- Instants that clients cannot read would stop every claim that meets them.
    CONSTRAINT horsies_tasks_instants CHECK (
        enqueued_at >= '0001-01-02Z' AND enqueued_at < '9999-12-31Z'
        AND good_until >= '0001-01-02Z' AND good_until < '9999-12-31Z'
    ),
    CONSTRAINT horsies_tasks_claimable CHECK (NOT claimable OR status = 'PENDING'),
    CONSTRAINT horsies_tasks_held CHECK (
        CASE status
            WHEN 'PENDING' THEN worker_id IS NULL AND claimed_at IS NULL AND started_at IS NULL
            WHEN 'CLAIMED' THEN worker_id IS NOT NULL AND claimed_at IS NOT NULL
                AND started_at IS NULL AND epoch > 0
            ELSE worker_id IS NOT NULL AND claimed_at IS NOT NULL
                AND started_at IS NOT NULL AND attempt > 0
        END
    )
) WITH (
    -- Rows live for seconds: dead ones must go soon, and a backlog must not put that off.
    fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_analyze_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- What claims scan. A million tasks for tomorrow are not in it.
CREATE INDEX horsies_tasks_claim ON {schema}.horsies_tasks
    (queue_name, priority, enqueued_at, id) WHERE claimable;
CREATE INDEX horsies_tasks_waiting ON {schema}.horsies_tasks
    (queue_name, enqueued_at, id) WHERE NOT claimable AND status = 'PENDING';
CREATE INDEX horsies_tasks_held ON {schema}.horsies_tasks
    (worker_id, queue_name) WHERE worker_id IS NOT NULL;
CREATE INDEX horsies_tasks_deadline ON {schema}.horsies_tasks
    (good_until) WHERE good_until IS NOT NULL AND status = 'PENDING';
CREATE INDEX horsies_tasks_unresolved ON {schema}.horsies_tasks
    (unresolved_since) WHERE unresolved_since IS NOT NULL AND status = 'PENDING';

CREATE TABLE {schema}.horsies_task_history (
    id uuid PRIMARY KEY,
    task_name text NOT NULL,
    queue_name text NOT NULL,
    args text NOT NULL,
    priority smallint NOT NULL,
    terms text,
    result_ttl interval,
    good_until timestamptz,
    headers jsonb,
    retry_of uuid,
    sent_at timestamptz NOT NULL,
    enqueued_at timestamptz NOT NULL,
    status text NOT NULL,
    epoch integer NOT NULL,
    attempt integer NOT NULL CHECK (attempt BETWEEN 0 AND epoch),
    retries smallint NOT NULL,
    crashes smallint NOT NULL,
    worker_id uuid,
    claimed_at timestamptz,
    started_at timestamptz,
    next_retry_at timestamptz,
    cancel_requested_at timestamptz,
    unresolved_since timestamptz,
    error_code text,
    unique_key text,
    concurrency_key text,
    fairness_key text,
    workflow_id uuid,
    finished_at timestamptz NOT NULL,
    purge_at timestamptz,  -- set where the task has a lifetime of its own
    result text,
    CONSTRAINT horsies_task_history_status
        CHECK (status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'EXPIRED')),
    CONSTRAINT horsies_task_history_error CHECK ((status = 'COMPLETED') = (error_code IS NULL))
);

CREATE INDEX horsies_task_history_finished ON {schema}.horsies_task_history
    (finished_at) WHERE purge_at IS NULL;
CREATE INDEX horsies_task_history_purge ON {schema}.horsies_task_history
    (purge_at) WHERE purge_at IS NOT NULL;

-- Runs that were followed by another; the last run is the ended task itself.
CREATE TABLE {schema}.horsies_past_attempts (
    task_id uuid NOT NULL,
    epoch integer NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    worker_id uuid,
    started_at timestamptz,
    finished_at timestamptz NOT NULL,
    error_code text,
    result text,
    PRIMARY KEY (task_id, epoch)
);

CREATE VIEW {schema}.horsies_task_attempts AS
    SELECT task_id, epoch, number, worker_id, started_at, finished_at, error_code, result
    FROM {schema}.horsies_past_attempts
    UNION ALL
    SELECT id, epoch, attempt, worker_id, started_at, finished_at, error_code, result
    FROM {schema}.horsies_task_history
    WHERE started_at IS NOT NULL;

CREATE TABLE {schema}.horsies_idempotency_keys (
    task_name text NOT NULL,
    key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    task_id uuid NOT NULL,
    fingerprint bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (task_name, key)
);
CREATE INDEX horsies_idempotency_keys_expiry ON {schema}.horsies_idempotency_keys (expires_at);

CREATE TABLE {schema}.horsies_workers (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    hostname text NOT NULL,
    pid integer NOT NULL,
    queues text[] NOT NULL,
    state text NOT NULL,
    started_at timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    current_tasks uuid[] NOT NULL,
    CONSTRAINT horsies_workers_state
        CHECK (state IN ('started', 'idle', 'busy', 'suspended', 'stopping'))
) WITH (fillfactor = 50);

CREATE TABLE {schema}.horsies_heartbeats (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id uuid NOT NULL,
    epoch integer NOT NULL,
    sender_id text NOT NULL,
    role text NOT NULL,
    sent_at timestamptz NOT NULL,
    hostname text NOT NULL,
    pid integer NOT NULL,
    CONSTRAINT horsies_heartbeats_role CHECK (role IN ('claimer', 'runner'))
);
CREATE INDEX horsies_heartbeats_task ON {schema}.horsies_heartbeats (task_id, epoch, sent_at);
CREATE INDEX horsies_heartbeats_age ON {schema}.horsies_heartbeats (sent_at);

-- Queues that somebody stopped by hand. A queue without a row is open.
CREATE TABLE {schema}.horsies_queues (
    name text PRIMARY KEY,
    paused_at timestamptz
);

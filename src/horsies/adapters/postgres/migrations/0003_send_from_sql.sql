-- Sending from triggers, psql and other languages. Retries, timeout and failure handler are those
-- of the worker that claims the task: plain SQL does not know them.

CREATE FUNCTION {schema}.horsies_uuid7() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE AS $body$
    -- The first 48 bits are the milliseconds since 1970, the version is 7 (bits 4 to 6 of byte 6).
    SELECT encode(
        set_bit(
            set_bit(
                overlay(
                    uuid_send(gen_random_uuid())
                    PLACING substring(
                        int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3
                    )
                    FROM 1 FOR 6
                ),
                52, 1
            ),
            53, 1
        ),
        'hex'
    )::uuid
$body$;

CREATE FUNCTION {schema}.horsies_send(
    task text,
    args jsonb DEFAULT '{{}}',
    queue text DEFAULT 'default',
    priority integer DEFAULT 50,
    delay interval DEFAULT NULL,
    eta timestamptz DEFAULT NULL,
    good_until timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    idempotency_window interval DEFAULT '24 hours',
    headers jsonb DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql AS $body$
DECLARE
    new_id uuid := {schema}.horsies_uuid7();
    instant timestamptz := clock_timestamp();
    due timestamptz := greatest(instant, coalesce(eta, instant + delay));
    mark bytea := sha256(convert_to(task || chr(10) || args::text, 'UTF8'));
    known record;
BEGIN
    IF args IS NULL OR jsonb_typeof(args) <> 'object' THEN
        RAISE EXCEPTION 'horsies_send: args must be a JSON object of the task''s parameters'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF delay IS NOT NULL AND eta IS NOT NULL THEN
        RAISE EXCEPTION 'horsies_send: delay and eta exclude each other'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF idempotency_key IS NOT NULL THEN
        INSERT INTO {schema}.horsies_idempotency_keys AS held
            (task_name, key, task_id, fingerprint, expires_at)
        VALUES (task, idempotency_key, new_id, mark, instant + idempotency_window)
        ON CONFLICT (task_name, key) DO UPDATE
            SET task_id = excluded.task_id,
                fingerprint = excluded.fingerprint,
                expires_at = excluded.expires_at
            WHERE held.expires_at <= instant;
        IF NOT FOUND THEN
            SELECT held.task_id, held.fingerprint INTO STRICT known
            FROM {schema}.horsies_idempotency_keys AS held
            WHERE held.task_name = task AND held.key = idempotency_key;
            IF known.fingerprint <> mark THEN
                RAISE EXCEPTION 'horsies_send: this idempotency key names another call'
                    USING ERRCODE = 'unique_violation';
            END IF;
            RETURN known.task_id;
        END IF;
    END IF;
    INSERT INTO {schema}.horsies_tasks
        (id, task_name, queue_name, args, priority, good_until, headers,
         sent_at, enqueued_at, claimable)
    VALUES
        (new_id, task, queue, args::text, priority, good_until, headers,
         instant, due, due <= instant);
    RETURN new_id;
END
$body$;

-- Every transition of every task, written down by the transaction that makes it. For tests only.

CREATE TABLE proof_transitions (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
    clock timestamptz NOT NULL DEFAULT clock_timestamp(),
    task uuid NOT NULL,
    name text NOT NULL,
    place text NOT NULL,  -- live, or history
    was text,             -- the status before; NULL: there was no such row
    now text,             -- the status after; NULL: the row is gone
    epoch_before integer,
    epoch integer NOT NULL,
    attempt_before integer,
    attempt integer NOT NULL,
    retries integer NOT NULL,
    crashes integer NOT NULL,
    owner uuid,
    cancelling boolean NOT NULL,
    error_code text
);

CREATE TABLE proof_beats (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task uuid NOT NULL,
    epoch integer NOT NULL,
    owner uuid NOT NULL
);

CREATE FUNCTION proof_note_transition() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
    before jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    after jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    it jsonb := coalesce(after, before);
BEGIN
    INSERT INTO proof_transitions
        (task, name, place, was, now, epoch_before, epoch, attempt_before, attempt, retries,
         crashes, owner, cancelling, error_code)
    VALUES (
        (it ->> 'id')::uuid, it ->> 'task_name', TG_ARGV[0], before ->> 'status', after ->> 'status',
        (before ->> 'epoch')::int, (it ->> 'epoch')::int,
        (before ->> 'attempt')::int, (it ->> 'attempt')::int,
        (it ->> 'retries')::int, (it ->> 'crashes')::int,
        coalesce(after ->> 'worker_id', before ->> 'worker_id')::uuid,
        it ->> 'cancel_requested_at' IS NOT NULL, it ->> 'error_code'
    );
    RETURN NULL;
END
$body$;

CREATE FUNCTION proof_note_beat() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    INSERT INTO proof_beats (task, epoch, owner)
    VALUES (NEW.task_id, NEW.epoch, split_part(NEW.sender_id, '/', 1)::uuid);
    RETURN NULL;
END
$body$;

CREATE TRIGGER proof_live AFTER INSERT OR DELETE ON horsies_tasks
    FOR EACH ROW EXECUTE FUNCTION proof_note_transition('live');
CREATE TRIGGER proof_live_update AFTER UPDATE ON horsies_tasks
    FOR EACH ROW
    WHEN (
        (OLD.status, OLD.epoch, OLD.attempt, OLD.worker_id, OLD.cancel_requested_at)
        IS DISTINCT FROM
        (NEW.status, NEW.epoch, NEW.attempt, NEW.worker_id, NEW.cancel_requested_at)
    )
    EXECUTE FUNCTION proof_note_transition('live');
CREATE TRIGGER proof_ended AFTER INSERT OR UPDATE OR DELETE ON horsies_task_history
    FOR EACH ROW EXECUTE FUNCTION proof_note_transition('history');
CREATE TRIGGER proof_beats AFTER INSERT ON horsies_heartbeats
    FOR EACH ROW EXECUTE FUNCTION proof_note_beat();

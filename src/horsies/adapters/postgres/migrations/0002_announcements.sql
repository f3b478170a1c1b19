-- New tasks are announced once per statement and queue. It is a hint: nothing depends on it, and a
-- full notification queue must not keep anybody from sending.

CREATE FUNCTION {schema}.horsies_announce_tasks() RETURNS trigger
LANGUAGE plpgsql AS $body$
BEGIN
    IF coalesce(current_setting('horsies.notify', true), '') = 'off'
        OR pg_notification_queue_usage() > 0.5
    THEN
        RETURN NULL;
    END IF;
    PERFORM pg_notify({new_channel}, added.queue_name)
    FROM (SELECT DISTINCT queue_name FROM added_tasks) AS added;
    RETURN NULL;
END
$body$;

CREATE TRIGGER horsies_announce_tasks
    AFTER INSERT ON {schema}.horsies_tasks
    REFERENCING NEW TABLE AS added_tasks
    FOR EACH STATEMENT EXECUTE FUNCTION {schema}.horsies_announce_tasks();

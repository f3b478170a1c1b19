-- How far the present run has come, by its own word; under another epoch it means nothing.

ALTER TABLE {schema}.horsies_tasks
    ADD COLUMN progress double precision,
    ADD COLUMN progress_note text,
    ADD COLUMN progress_epoch integer;

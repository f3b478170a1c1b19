-- Why a run could not complete its task: it is a node of a workflow, or it has done so before.
SELECT
    EXISTS (
        SELECT FROM {schema}.horsies_tasks AS task
        WHERE task.id = %(id)s::uuid AND task.epoch = %(epoch)s::int AND task.status = 'RUNNING'
            AND task.workflow_id IS NOT NULL
    ),
    EXISTS (
        SELECT FROM {schema}.horsies_task_history AS task
        WHERE task.id = %(id)s::uuid AND task.epoch = %(epoch)s::int AND task.status = 'COMPLETED'
    )

"""Short words for sends in laws."""

from horsies.application.definition import TaskDefinition
from horsies.application.send_options import SendOptions
from horsies.application.usecases.enqueue_tasks import Call
from horsies.domain.ids import TaskId
from tests.unit.application.usecases.bench import Bench


def send(bench: Bench, definition: TaskDefinition, *args: object, **options: object):
    plan = bench.enqueue.plan(definition, [Call(args, {})], SendOptions(**options))
    return bench.enqueue.run(plan)


def sent(bench: Bench, definition: TaskDefinition, *args: object, **options: object) -> TaskId:
    (task_id,) = send(bench, definition, *args, **options).unwrap()
    return task_id


def refused(bench: Bench, definition: TaskDefinition, *args: object, **options: object):
    return send(bench, definition, *args, **options).failure()

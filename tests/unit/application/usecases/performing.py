"""Short words for runs in laws."""

from horsies.application.ports.performer import Performed
from horsies.application.usecases.perform_task import Prepared
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.result import TaskError, TaskResult

UNHANDLED = OperationalErrorCode.UNHANDLED_EXCEPTION
UNSTORABLE = OperationalErrorCode.WORKER_SERIALIZATION_ERROR


def perform(bench, function, payload=b"{}", **options) -> Performed:
    definition = bench.define(function, "job", **options)
    prepared = bench.perform.prepare("job", payload)
    assert isinstance(prepared, Prepared)
    return bench.perform.conclude(definition, prepared.run())


def error_of(bench, performed: Performed) -> TaskError:
    return bench.error(performed.result)


def raising(exception: BaseException):
    def job() -> TaskResult[int, TaskError]:
        raise exception

    return job


class OutOfPaperError(ConnectionError):
    pass

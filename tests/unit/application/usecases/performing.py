"""Short words for runs in laws."""

from horsies.application.ports.performer import Job, Performed
from horsies.domain.codes import OperationalErrorCode
from horsies.domain.result import TaskError, TaskResult
from tests.draining import Unsupervised

UNHANDLED = OperationalErrorCode.UNHANDLED_EXCEPTION
UNSTORABLE = OperationalErrorCode.WORKER_SERIALIZATION_ERROR


def job_of(payload=b"{}", name="job") -> Job:
    return Job(bytes(16), 1, name, "default", 1, payload)


def perform(bench, function, payload=b"{}", **options) -> Performed:
    bench.define(function, "job", **options)
    return bench.perform.run(job_of(payload), Unsupervised())


async def perform_async(bench, function, payload=b"{}", **options) -> Performed:
    bench.define(function, "job", **options)
    return await bench.perform.run_async(job_of(payload), Unsupervised())


def error_of(bench, performed: Performed) -> TaskError:
    return bench.error(performed.result)


def raising(exception: BaseException):
    def job() -> TaskResult[int, TaskError]:
        raise exception

    return job


class OutOfPaperError(ConnectionError):
    pass

"""A project with faults in two of its modules."""

APP = """
    from horsies import Horsies

    app = Horsies()
    app.discover_tasks(["emails", "reports"])
"""

EMAILS = """
    from horsies import RetryPolicy, TaskError, TaskResult
    from shop import app


    @app.task("welcome")
    def welcome(address) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)


    @app.task("goodbye", timeout_ms=0)
    async def goodbye(address: str) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)


    @app.task("fine")
    def fine() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)
"""

REPORTS = """
    from horsies import TaskError, TaskResult
    from shop import app


    @app.task("yearly", on_failure="nobody")
    def yearly() -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)


    @app.task("fine")
    def monthly() -> int:
        return 5
"""

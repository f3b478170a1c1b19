"""The app whose task is running."""

from typing import TYPE_CHECKING, cast

from horsies.application.context import current_task

if TYPE_CHECKING:
    from horsies.entrypoints.app import Horsies


def current_app() -> "Horsies":
    """For code that is shared by several apps; raises `NotInTaskError` where no task runs."""
    return cast("Horsies", current_task().app)

"""Finding an app by `package.module:name`, and the name by the app."""

import sys
from collections.abc import Iterable
from pathlib import Path

from horsies.application.hrs import Hrs
from horsies.application.send_options import no_app_sends
from horsies.domain.errors import ConfigurationError
from horsies.domain.faults import Fault
from horsies.entrypoints.app import Horsies
from horsies.entrypoints.collecting import faults_put_off
from horsies.entrypoints.discovery import find_object, wrong_object


def find_app(locator: str) -> Horsies:
    """The app; faults of its tasks are told when they are loaded."""
    with faults_put_off(), no_app_sends():
        found = find_object(locator)
    if not isinstance(found, Horsies):
        raise wrong_object(locator, found)
    return found


def load_app(locator: str, imports: Iterable[str] = ()) -> Horsies:
    """The app with all its tasks; everything wrong with them is raised together."""
    app = find_app(locator)
    app.load_tasks(imports)
    return app


def locator_of(app: Horsies) -> str:
    """Where a child process finds this very app."""
    for name, module in sorted(sys.modules.items(), key=lambda item: item[0] == "__main__"):
        for attribute, value in list(vars(module).items()) if module else ():
            if value is not app:
                continue
            file = getattr(module, "__file__", None)
            if name != "__main__":
                return f"{name}:{attribute}"
            if file is not None:
                return f"{Path(file).resolve()}:{attribute}"
    raise ConfigurationError(
        [
            Fault(
                Hrs.BAD_APP_LOCATOR,
                "children cannot find this app: it is not a variable of any module",
                "name it at the top level of a module, or pass WorkerConfig(app_locator=...)",
            )
        ]
    )

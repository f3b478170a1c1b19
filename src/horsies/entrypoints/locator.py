"""Finding an app by `package.module:name`."""

from horsies.entrypoints.app import Horsies
from horsies.entrypoints.collecting import faults_put_off
from horsies.entrypoints.discovery import find_object, wrong_object


def load_app(locator: str) -> Horsies:
    """The app with all its tasks; everything wrong with them is raised together."""
    with faults_put_off():
        found = find_object(locator)
    if not isinstance(found, Horsies):
        raise wrong_object(locator, found)
    found.load_tasks()
    return found

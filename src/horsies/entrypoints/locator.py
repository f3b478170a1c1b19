"""Finding an app by `package.module:name`."""

from horsies.entrypoints.app import Horsies
from horsies.entrypoints.discovery import find_object, wrong_object


def load_app(locator: str) -> Horsies:
    found = find_object(locator)
    if not isinstance(found, Horsies):
        raise wrong_object(locator, found)
    return found

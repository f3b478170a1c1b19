"""Importing the user's modules and finding the user's app, with every failure explained."""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from horsies.application.hrs import Hrs
from horsies.application.source import line_at
from horsies.domain.errors import DefinitionError, FaultsError
from horsies.domain.faults import Fault


def import_all(modules: Iterable[str]) -> list[Fault]:
    """Import dotted paths and files; one that fails does not keep the others from being tried."""
    faults: list[Fault] = []
    for module in modules:
        try:
            import_one(module)
        except FaultsError as error:
            faults += error.faults
        except (Exception, SystemExit) as error:  # noqa: BLE001 - importing runs a user's code
            faults.append(_unimportable(module, error))
    return faults


def import_one(module: str) -> ModuleType:
    """`myapp.tasks`, or a file such as `jobs.py`."""
    if not module.endswith(".py"):
        return import_module(module)
    path = Path(module).resolve()
    return import_module(dotted) if (dotted := _dotted(path)) else _import_file(path)


def find_object(locator: str) -> object:
    """What `pkg.module:name` leads to."""
    module_name, _, attribute = locator.partition(":")
    if not module_name or not attribute:
        raise _bad_locator(locator, "it has to look like package.module:app")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_one(module_name)
    except FaultsError:
        raise
    except (Exception, SystemExit) as error:
        raise DefinitionError([_unimportable(module_name, error)]) from error
    try:
        return getattr(module, attribute)
    except AttributeError as error:
        reason = f"module {module_name!r} has no {attribute!r}"
        raise _bad_locator(locator, reason) from error


def wrong_object(locator: str, found: object) -> DefinitionError:
    return _bad_locator(locator, f"it leads to a {type(found).__name__}, not to a Horsies app")


def _dotted(path: Path) -> str | None:
    """The name under which the file can be imported like any other module."""
    for entry in sys.path:
        root = Path(entry or ".").resolve()
        if path.is_relative_to(root):
            parts = path.relative_to(root).with_suffix("").parts
            if all(part.isidentifier() for part in parts):
                return ".".join(parts)
    return None


def _import_file(path: Path) -> ModuleType:
    name = f"horsies_file_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"there is no file {path}")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _unimportable(module: str, error: BaseException) -> Fault:
    frames = [
        frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename
    ]
    last = frames[-1] if frames and frames[-1].filename != __file__ else None
    return Fault(
        Hrs.UNIMPORTABLE_MODULE,
        f"module {module!r} cannot be imported: {type(error).__name__}: {error}",
        "check the name and the module's own imports; it must be importable from here",
        line_at(last.filename, last.lineno or 0) if last else None,
    )


def _bad_locator(locator: str, reason: str) -> DefinitionError:
    return DefinitionError(
        [
            Fault(
                Hrs.BAD_APP_LOCATOR,
                f"{locator!r:.200} does not lead to an app: {reason}",
                "name the module and the variable, for example myproject.tasks:app",
            )
        ]
    )

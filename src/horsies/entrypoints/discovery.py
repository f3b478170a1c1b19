"""Importing the user's modules and finding the user's app, with every failure explained."""

import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from sysconfig import get_paths
from traceback import extract_tb
from types import ModuleType
from zlib import crc32

from horsies.application.hrs import Hrs
from horsies.application.source import SourceLine, line_at
from horsies.domain.errors import DefinitionError, FaultsError
from horsies.domain.faults import Fault
from horsies.domain.result import ExceptionInfo

_NOT_THEIRS = (
    str(Path(__file__).parents[1]),
    *(get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
)


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
    return _bad_locator(locator, f"it is of type {type(found).__name__}, not a Horsies app")


def _dotted(path: Path) -> str | None:
    """The name under which the file is imported like any other module, if it has one."""
    for entry in sys.path:
        root = Path(entry or ".").resolve()
        if not path.is_relative_to(root):
            continue
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        if _leads_to(name, path):
            return name
    return None


def _leads_to(name: str, path: Path) -> bool:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a parent that is no package
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path


def _import_file(path: Path) -> ModuleType:
    """Under a name of its own, and once: the tasks of a file are not to be defined twice."""
    name = f"horsies_file_{path.stem}_{crc32(bytes(path)):08x}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"there is no file {path}")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _unimportable(module: str, error: BaseException) -> Fault:
    return Fault(
        Hrs.UNIMPORTABLE_MODULE,
        f"module {module!r} cannot be imported: "
        f"{type(error).__name__}: {ExceptionInfo.of(error).message}",
        "check the name and the module's own imports; it must be importable from here",
        _culprit(error),
    )


def _culprit(error: BaseException) -> SourceLine | None:
    """The last line of the user's own code on the way to the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return line_at(error.filename, error.lineno or 0)
    frames = [
        frame
        for frame in extract_tb(error.__traceback__)
        if not frame.filename.startswith((*_NOT_THEIRS, "<frozen"))
    ]
    return line_at(frames[-1].filename, frames[-1].lineno or 0) if frames else None


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

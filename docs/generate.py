"""Writes into the docs what the code knows: the lifecycle, the settings, the fault codes.

python docs/generate.py           rewrite the marked regions
python docs/generate.py --check   exit 1 if one of them is stale
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path

from horsies import (
    AppConfig,
    CustomQueueConfig,
    PostgresConfig,
    RecoveryConfig,
    WorkerConfig,
    WorkerResilienceConfig,
)
from horsies.application.hrs import Hrs
from horsies.application.settings.checks import LARGEST, Settings
from horsies.domain.task_lifecycle import TERMINAL, TRANSITIONS, TaskStatus, Trigger

DOCS = Path(__file__).parent
CONFIGS: Sequence[type[Settings]] = (
    AppConfig,
    PostgresConfig,
    CustomQueueConfig,
    RecoveryConfig,
    WorkerResilienceConfig,
    WorkerConfig,
)
OF_THIS_MACHINE = {
    (WorkerConfig, "processes"): "the usable CPUs",
    (WorkerConfig, "name"): "the host's name",
}
NO_LIMIT = f" to {LARGEST:_}"


def lifecycle() -> str:
    """The diagram, in the order in which states and triggers are declared."""
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {TaskStatus.PENDING}: send"]
    for source in TaskStatus:
        for target in TaskStatus:
            causes = [cause for cause in Trigger if TRANSITIONS.get((source, cause)) is target]
            if causes:
                lines.append(f"    {source} --> {target}: {', '.join(causes)}")
    lines += [f"    {status} --> [*]" for status in TaskStatus if status in TERMINAL]
    return "\n".join([*lines, "```"])


def settings() -> str:
    return "\n\n".join(_table_of(config) for config in CONFIGS)


def fault_codes() -> str:
    rows = [f"| {code} | {code.meaning} |" for code in Hrs]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


REGIONS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "lifecycle.md": {"lifecycle": lifecycle},
    "configuration.md": {"settings": settings, "hrs": fault_codes},
}


def rendered(page: str, region: str, content: str) -> str:
    """The page with one marked region written anew."""
    begin, end = f"<!-- {region}:begin -->", f"<!-- {region}:end -->"
    head, found_begin, rest = page.partition(begin)
    _, found_end, tail = rest.partition(end)
    if not found_begin or not found_end:
        raise ValueError(f"the page lacks {begin} or {end}")
    return f"{head}{begin}\n{content}\n{end}{tail}"


def main(arguments: Sequence[str] | None = None, docs: Path = DOCS) -> int:
    parser = argparse.ArgumentParser(description="Write what is generated in the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if stale")
    check = parser.parse_args(arguments).check
    stale = [page for page in REGIONS if _refresh(docs / page, REGIONS[page], check=check)]
    if check and stale:
        print(f"stale: {', '.join(stale)}; run python docs/generate.py", file=sys.stderr)
        return 1
    return 0


def _refresh(page: Path, regions: Mapping[str, Callable[[], str]], *, check: bool) -> bool:
    old = new = page.read_text(encoding="utf-8")
    for region, content in regions.items():
        new = rendered(new, region, content())
    if not check and old != new:
        page.write_text(new, encoding="utf-8")
    return old != new


def _table_of(config: type[Settings]) -> str:
    rows = [
        f"| `{item.name}` | {OF_THIS_MACHINE.get((config, item.name)) or _default_of(item)} "
        f"| {item.metadata['rule'].kind.replace(NO_LIMIT, ' up')} | {item.metadata['means']} |"
        for item in fields(config)
    ]
    heading = f"### {config.__name__}"
    return "\n".join(
        [heading, "", "| field | default | takes | what it is |", "|---|---|---|---|", *rows]
    )


def _default_of(item: "Field[object]") -> str:
    if item.default_factory is not MISSING:
        value = item.default_factory()
        return f"`{type(value).__name__}()`" if isinstance(value, Settings) else f"`{value!r}`"
    if item.default is MISSING:
        return "required"
    value = item.default
    shown = f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)
    return f"`{str(value) if isinstance(value, str) else shown}`"


if __name__ == "__main__":
    raise SystemExit(main())

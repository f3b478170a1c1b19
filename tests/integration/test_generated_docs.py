"""What is generated in the docs is what the code says."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from horsies.domain.task_lifecycle import TERMINAL, TRANSITIONS, TaskStatus, Trigger

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "lifecycle.md").read_text(encoding="utf-8")


def load_script():
    spec = spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = load_script()


def diagram() -> str:
    match = re.search(r"```mermaid\n(.*?)\n```", PAGE, re.DOTALL)
    assert match is not None
    return match[1]


def drawn_edges() -> set[tuple[str, str, str]]:
    arrows = re.findall(r"^ +(\w+) --> (\w+): (.+)$", diagram(), re.MULTILINE)
    return {(source, cause, to) for source, to, causes in arrows for cause in causes.split(", ")}


def test_the_diagram_draws_every_edge_of_the_table_and_no_other():
    table = {(str(source), str(cause), str(to)) for (source, cause), to in TRANSITIONS.items()}
    assert drawn_edges() == table


def test_the_diagram_begins_at_pending():
    assert re.findall(r"\[\*\] --> (\w+)", diagram()) == ["PENDING"]


def test_the_diagram_ends_at_the_terminal_states():
    assert set(re.findall(r"(\w+) --> \[\*\]", diagram())) == TERMINAL


@pytest.mark.parametrize("status", TaskStatus)
def test_the_page_explains_every_state(status: TaskStatus):
    assert f"\n| {status} |" in PAGE


@pytest.mark.parametrize(("edge", "target"), TRANSITIONS.items())
def test_the_page_explains_every_edge(edge: tuple[TaskStatus, Trigger], target: TaskStatus):
    source, cause = edge
    assert re.search(rf"^\| {cause} \|[^|]*\b{source}\b[^|]* → {target} \|", PAGE, re.MULTILINE)


@pytest.fixture
def stale_docs(tmp_path: Path) -> Path:
    for name, regions in SCRIPT.REGIONS.items():
        marked = (f"<!-- {region}:begin -->\nold\n<!-- {region}:end -->\n" for region in regions)
        (tmp_path / name).write_text("above\n" + "between\n".join(marked) + "below\n")
    return tmp_path


def texts(docs: Path) -> list[str]:
    return [(docs / name).read_text() for name in SCRIPT.REGIONS]


def test_the_docs_are_up_to_date():
    assert SCRIPT.main(["--check"]) == 0


def test_check_refuses_stale_docs_and_leaves_them_alone(stale_docs: Path, capsys):
    before = texts(stale_docs)
    assert SCRIPT.main(["--check"], stale_docs) == 1
    assert texts(stale_docs) == before
    assert "lifecycle.md, configuration.md" in capsys.readouterr().err


def test_rewriting_makes_stale_docs_current(stale_docs: Path):
    SCRIPT.main([], stale_docs)
    assert SCRIPT.main(["--check"], stale_docs) == 0


def test_rewriting_touches_the_marked_regions_only(stale_docs: Path):
    SCRIPT.main([], stale_docs)
    for text in texts(stale_docs):
        assert text.startswith("above\n<!-- ")
        assert text.endswith(" -->\nbelow\n")
        assert "old" not in text.split("-->")[1].split("\n")[:2]


def test_a_page_without_its_markers_is_refused(stale_docs: Path):
    (stale_docs / "lifecycle.md").write_text("no markers here")
    with pytest.raises(ValueError, match="lifecycle:begin"):
        SCRIPT.main([], stale_docs)

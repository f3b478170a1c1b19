"""The command line as a process of its own: exit codes, streams and what gets imported."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from horsies import __version__
from tests.faulty_project import APP, EMAILS, REPORTS
from tests.postgres import open_folder


def horsies(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = "from horsies.entrypoints.cli.main import main; main(prog_name='horsies')"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=cwd,
    )


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in {"shop": APP, "emails": EMAILS, "reports": REPORTS}.items():
        (tmp_path / f"{name}.py").write_text(dedent(text).lstrip("\n"))
    return tmp_path


def test_it_tells_its_version():
    done = horsies("--version")
    assert (done.returncode, done.stdout) == (0, f"horsies, version {__version__}\n")


def test_the_faults_of_all_modules_come_in_one_report_on_stderr(shop):
    done = horsies("check", "shop:app", cwd=shop)
    assert (done.returncode, done.stdout) == (1, "")
    places = re.findall(r"error\[(HRS-\d+)\].*\n +--> (\S+)", done.stderr)
    assert places == [
        ("HRS-102", "emails.py:6"),
        ("HRS-107", "emails.py:10"),
        ("HRS-301", "reports.py:6"),
        ("HRS-101", "reports.py:11"),
        ("HRS-300", "reports.py:11"),
    ]
    assert done.stderr.endswith("5 faults found\n")


def test_mended_modules_have_no_faults(shop):
    emails = shop / "emails.py"
    emails.write_text(emails.read_text().replace("address)", "address: str)").replace("=0", "=9"))
    (shop / "reports.py").write_text("")
    done = horsies("check", "shop:app", cwd=shop)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("3 tasks, no faults\n")


def test_the_demo_tells_its_story():
    with open_folder() as folder:
        done = horsies("demo", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    expected = [
        "image-1-800px.webp",
        "image-2-800px.webp",
        "image-3-800px.webp",
        r"\d\d:\d\d:\d\d\.\d+  UNHANDLED_EXCEPTION: ConnectionError: the bank does not answer",
        r"\d\d:\d\d:\d\d\.\d+  UNHANDLED_EXCEPTION: ConnectionError: the bank does not answer",
        r"\d\d:\d\d:\d\d\.\d+  succeeded",
        r"order 7: charged 19\.99",
        "cancel: CANCELLED",
        r"reminded ada@example\.com",
        "TASK_CANCELLED",
        "OUT_OF_PAPER: no label for order 7: tray 2 is empty",
        "WORKER_CRASHED: the process that ran the task exited with code 139",
        r"10,000 more tasks, sent, run in two processes and settled durably: [\d,]+ a second",
    ]
    told = [line for line in lines if any(re.fullmatch(wanted, line) for wanted in expected)]
    assert len(told) == len(expected)
    assert all(re.fullmatch(w, t) for w, t in zip(expected, told, strict=True))


def test_the_console_script_is_installed():
    script = Path(sys.executable).with_name("horsies")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"horsies, version {__version__}\n"


def test_asking_for_help_loads_neither_the_engine_nor_the_container():
    program = dedent("""
        import sys
        from horsies.entrypoints.cli.main import main
        try:
            main(["--help"])
        except SystemExit:
            pass
        print({"dependency_injector", "asyncio"} & set(sys.modules), file=sys.stderr)
    """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "set()"

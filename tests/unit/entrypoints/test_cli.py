"""The command line, in process: what it prints, where, and how it exits."""

import pytest
from click.testing import CliRunner, Result

from horsies import __version__
from horsies.entrypoints.cli.main import main

SHOP = """
    from horsies import Horsies, TaskError, TaskResult

    app = Horsies()
    not_an_app = 5


    @app.task("resize")
    def resize(image_id: int) -> TaskResult[str, TaskError]:
        return TaskResult(ok="")


    @app.task("charge")
    async def charge(cents: int) -> TaskResult[None, TaskError]:
        return TaskResult(ok=None)
"""


def horsies(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_it_tells_its_version():
    assert horsies("--version").stdout == f"horsies, version {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_it_lists_its_commands(option):
    result = horsies(option)
    assert result.exit_code == 0
    assert "check" in result.stdout
    assert "demo" in result.stdout


@pytest.mark.parametrize("command", ["check", "demo"])
def test_every_command_explains_itself_with_an_example(command):
    result = horsies(command, "--help")
    assert result.exit_code == 0
    assert f"horsies {command}" in result.stdout
    assert "Example:" in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        *(("workers", verb) for verb in ("list", "suspend", "resume", "ping")),
        *(("queues", verb) for verb in ("list", "pause", "resume")),
        ("suspend",),
        ("resume",),
    ],
)
def test_every_operator_s_command_explains_itself_with_an_example(command):
    result = horsies(*command, "--help")
    assert result.exit_code == 0
    assert f"horsies {' '.join(command)}" in result.stdout
    assert "Example" in result.stdout


@pytest.mark.parametrize("command", [("workers", "suspend"), ("queues", "pause")])
@pytest.mark.parametrize("name", ["", " mule", "a\nb", "x" * 256])
def test_what_is_no_name_is_wrong_usage(command, name):
    assert horsies(*command, name).exit_code == 2


@pytest.mark.parametrize("arguments", [("check",), ("nonsense",), ("check", "--nonsense", "a:b")])
def test_wrong_usage_exits_with_2_and_says_so_on_stderr(arguments):
    result = horsies(*arguments)
    assert result.exit_code == 2
    assert "Error:" in result.stderr
    assert result.stdout == ""


class TestCheck:
    def test_a_good_app_is_listed(self, project):
        project(shop=SHOP)
        result = horsies("check", "shop:app")
        assert result.exit_code == 0
        assert result.stdout.splitlines() == [
            "charge  (async, queue default)",
            "resize  (sync, queue default)",
            "2 tasks, no faults",
        ]
        assert result.stderr == ""

    def test_one_task_is_one(self, project):
        project(shop=SHOP.partition('    @app.task("charge")')[0])
        assert horsies("check", "shop:app").stdout.splitlines()[-1] == "1 task, no faults"

    def test_an_app_without_tasks_has_no_faults(self, project):
        project(shop="from horsies import Horsies\napp = Horsies()\n")
        result = horsies("check", "shop:app")
        assert (result.exit_code, result.stdout) == (0, "0 tasks, no faults\n")

    @pytest.mark.parametrize(
        ("locator", "code"),
        [
            ("shop", "HRS-303"),
            ("shop:", "HRS-303"),
            (":app", "HRS-303"),
            ("shop:nowhere", "HRS-303"),
            ("shop:not_an_app", "HRS-303"),
            ("nowhere.at.all:app", "HRS-302"),
        ],
    )
    def test_a_bad_locator_exits_with_1_and_its_code_on_stderr(self, project, locator, code):
        project(shop=SHOP)
        result = horsies("check", locator)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"error[{code}]: ")
        assert result.stderr.endswith("1 fault found\n")

    def test_a_module_that_raises_is_reported_without_a_traceback(self, project):
        project(shop="raise RuntimeError('out of order')\n")
        result = horsies("check", "shop:app")
        assert result.exit_code == 1
        assert "module 'shop' cannot be imported: RuntimeError: out of order" in result.stderr
        assert "1 | raise RuntimeError('out of order')" in result.stderr
        assert "Traceback" not in result.stderr

    def test_a_fault_of_the_configuration_is_reported_with_its_line(self, project):
        project(
            shop="""
                from horsies import AppConfig, Horsies
                app = Horsies(AppConfig(prefetch_buffer=-1))
            """
        )
        result = horsies("check", "shop:app")
        assert result.exit_code == 1
        assert "error[HRS-200]" in result.stderr
        assert "--> shop.py:2" in result.stderr


def test_a_send_in_the_module_of_the_app_is_refused_and_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sends.py").write_text(
        "from horsies import Horsies, TaskError, TaskResult\n"
        'app = Horsies("postgresql://nowhere/none")\n'
        '@app.task("a")\n'
        "def a(n: int) -> TaskResult[int, TaskError]:\n"
        "    return TaskResult(ok=n)\n"
        "a.send(1)\n"
    )
    result = horsies("check", "sends:app")
    assert result.exit_code == 1
    assert "SEND_SUPPRESSED" in result.output

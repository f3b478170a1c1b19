"""What a forked child inherits: tasks and handles, but no connection, thread or lock."""

import pytest

from tests.integration.embedded.users import run_program

SHOP = """
    import os, sys, threading
    from horsies import Horsies, PostgresConfig, TaskError, TaskResult
    from tests.draining import drain

    app = Horsies(sys.argv[1])

    @app.task("double")
    def double(number: int) -> TaskResult[int, TaskError]:
        return TaskResult(ok=2 * number)

    def in_child(act):
        if os.fork() == 0:
            act()
            sys.exit()

    def wait_for_children(count=1):
        for _ in range(count):
            assert os.wait()[1] == 0

    def live_and_tell(number):
        handle = double.send(number)
        drain(app)
        print(handle.get(30_000).unwrap(), flush=True)
"""


def printed_by(dsn: str, program: str) -> list[str]:
    done = run_program(SHOP + program, dsn)
    assert (done.returncode, done.stderr) == (0, "")
    return sorted(done.stdout.split())


def test_a_child_of_a_connected_parent_sends_and_waits(postgres_dsn):
    program = """
    live_and_tell(1)
    in_child(lambda: live_and_tell(2))
    wait_for_children()
    live_and_tell(3)
    """
    assert printed_by(postgres_dsn, program) == ["2", "4", "6"]


def test_many_children_send_at_once_and_share_no_session(postgres_dsn):
    program = """
    double.send(0)
    def send():
        handles = double.send_many({"number": n} for n in range(50))
        assert len({handle.task_id for handle in handles}) == 50
        [double.send(n) for n in range(10)]
    for _ in range(4):
        in_child(send)
    wait_for_children(4)
    print(drain(app))
    """
    assert printed_by(postgres_dsn, program) == ["241"]


def test_a_child_made_while_another_thread_waits_is_free(postgres_dsn):
    program = """
    handle = double.send(1)
    told = []
    waiting = threading.Thread(target=lambda: told.append(handle.get(30_000).unwrap()))
    waiting.start()
    in_child(lambda: live_and_tell(2))
    wait_for_children()
    waiting.join()
    print(*told)
    """
    assert printed_by(postgres_dsn, program) == ["2", "4"]


def test_a_child_uses_the_handles_of_its_parent(postgres_dsn):
    program = """
    handle = double.send(5)
    def look():
        print(handle.info().status)
        drain(app)
        print(handle.get(30_000).unwrap(), flush=True)
    in_child(look)
    wait_for_children()
    print(handle.get(30_000).unwrap())
    """
    assert printed_by(postgres_dsn, program) == ["10", "10", "PENDING"]


def test_a_child_that_never_used_the_app_ends_at_once(postgres_dsn):
    program = """
    live_and_tell(1)
    in_child(lambda: None)
    wait_for_children()
    """
    assert printed_by(postgres_dsn, program) == ["2"]


def test_a_child_that_closes_leaves_its_parent_connected(postgres_dsn):
    program = """
    live_and_tell(1)
    def close():
        app.close()
        live_and_tell(2)
        app.close()
    in_child(close)
    wait_for_children()
    live_and_tell(3)
    """
    assert printed_by(postgres_dsn, program) == ["2", "4", "6"]


def test_a_child_may_fork_again(postgres_dsn):
    program = """
    live_and_tell(1)
    def fork_again():
        live_and_tell(2)
        in_child(lambda: live_and_tell(3))
        wait_for_children()
    in_child(fork_again)
    wait_for_children()
    """
    assert printed_by(postgres_dsn, program) == ["2", "4", "6"]


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_children_of_multiprocessing_send_too(postgres_dsn, tmp_path, method):
    (tmp_path / "shop.py").write_text(
        "from horsies import Horsies, TaskError, TaskResult\n"
        f"app = Horsies({postgres_dsn!r})\n"
        "@app.task('double')\n"
        "def double(number: int) -> TaskResult[int, TaskError]:\n"
        "    return TaskResult(ok=2 * number)\n"
        "def send(number):\n"
        "    return str(double.send(number).task_id)\n"
    )
    program = """
    import multiprocessing, sys
    sys.path.insert(0, sys.argv[1])
    import shop
    from tests.draining import drain

    if __name__ == "__main__":
        shop.send(0)
        with multiprocessing.get_context(sys.argv[2]).Pool(2) as pool:
            pool.map(shop.send, range(10))
            pool.close()
            pool.join()
        print(drain(shop.app))
    """
    done = run_program(program, tmp_path, method)
    assert (done.stdout.strip(), done.stderr) == ("11", "")

"""A forked child is no user until it acquires by itself."""

from tests.integration.embedded.users import run_program


def test_a_child_that_releases_what_its_parent_acquired_stops_nothing(server, project):
    done = run_program(
        """
        import os, sys
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        server = EmbeddedServer(Path(sys.argv[1]))
        server.acquire()
        if os.fork() == 0:
            server.release()
            os._exit(0)
        os.wait()
        print(server.status().running)
        server.release()
        print(server.status().running)
        """,
        project,
    )
    assert (done.stdout.split(), done.stderr) == (["True", "False"], "")


def test_a_child_that_acquires_keeps_the_server_after_its_parent_left(server, project):
    done = run_program(
        """
        import os, sys
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        server = EmbeddedServer(Path(sys.argv[1]))
        server.acquire()
        acquired, left = os.pipe(), os.pipe()
        if os.fork() == 0:
            server.acquire()
            os.write(acquired[1], b".")
            os.read(left[0], 1)
            print(server.status().running, flush=True)
            server.release()
            os._exit(0)
        os.read(acquired[0], 1)
        server.release()
        os.write(left[1], b".")
        os.wait()
        print(server.status().running)
        """,
        project,
    )
    assert (done.stdout.split(), done.stderr) == (["True", "False"], "")


def test_a_child_that_lives_on_does_not_keep_what_its_parent_released(server, project):
    done = run_program(
        """
        import os, sys
        from pathlib import Path
        from horsies.adapters.embedded.server import EmbeddedServer

        server, another = (EmbeddedServer(Path(sys.argv[1])) for _ in range(2))
        server.acquire()
        released = os.pipe()
        if os.fork() == 0:
            os.read(released[0], 1)
            os._exit(0)
        another.acquire()
        server.release()
        print(server.status().running)
        another.release()
        print(server.status().running)
        os.write(released[1], b".")
        os.wait()
        """,
        project,
    )
    assert (done.stdout.split(), done.stderr) == (["True", "False"], "")

"""One verb of one queue, in a process of its own: `python -m benchmarks.peers.program QUEUE VERB`.

What it has measured is its last line of standard output, as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from benchmarks.peers.contract import Peer, Setup
from benchmarks.peers.work import witnessed

WARM_UP = 20
POLL_SECONDS = 0.25
PATIENCE_SECONDS = 30.0
LOOKS_PART = 50
"""At most one part in so many of the time is spent on looking."""


async def describe(peer: Peer) -> object:
    return {"settings": peer.settings, "workers": peer.workers}


async def prepare(peer: Peer) -> object:
    await peer.prepare()
    return None


async def fill(peer: Peer, task: str, count: str) -> object:
    await peer.open()
    await peer.fill(task, int(count))
    await peer.close()
    return None


async def bulk(peer: Peer, count: str) -> object:
    """Seconds of sending all of them, by a process that has sent before."""
    await peer.open()
    await peer.fill("noop", WARM_UP)
    begin = time.perf_counter()
    await peer.fill("noop", int(count))
    seconds = time.perf_counter() - begin
    await peer.close()
    return seconds


async def singles(peer: Peer, count: str) -> object:
    """Seconds of each send."""
    await peer.open()
    times: list[float] = []
    for number in range(-WARM_UP, int(count)):
        begin = time.perf_counter()
        await peer.send("noop", number)
        times.append(time.perf_counter() - begin)
    await peer.close()
    return times[WARM_UP:]


async def latency(peer: Peer, count: str, path: str) -> object:
    """Seconds from a send to the first line of its task, and to its result seen."""
    await peer.open()
    begun: dict[int, float] = {}
    seen: dict[int, float] = {}
    for number in range(-WARM_UP, int(count)):
        begun[number] = time.monotonic()
        sent = await peer.send("witness", number)
        try:
            await asyncio.wait_for(peer.ended(sent), PATIENCE_SECONDS)
            seen[number] = time.monotonic() - begun[number]
        except NotImplementedError:
            await _until_witnessed(Path(path), number)
        await asyncio.sleep(0.005)  # the worker becomes idle again
    lines = witnessed(Path(path))
    await peer.close()
    return {
        "first_line": [lines[number] - begun[number] for number in range(int(count))],
        "result": [seconds for number, seconds in seen.items() if number >= 0],
    }


async def _until_witnessed(path: Path, number: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while number not in witnessed(path):
        if time.monotonic() > deadline:
            raise TimeoutError(f"nobody ran task {number}")
        await asyncio.sleep(0.005)


async def senders(peer: Peer, count: str, threads: str) -> object:
    """Sends a second of so many threads together."""
    await peer.open()

    def send_share(thread: int) -> None:
        for number in range(int(count) // int(threads)):
            asyncio.run(peer.send("noop", thread * int(count) + number))

    with ThreadPoolExecutor(int(threads)) as pool:
        begin = time.perf_counter()
        list(pool.map(send_share, range(int(threads))))
        seconds = time.perf_counter() - begin
    await peer.close()
    return int(count) / seconds


async def watch(peer: Peer, limit_seconds: str) -> object:
    """Say when nothing is left or the time is up; the span is asked for once the worker is gone."""
    print("watching", flush=True)
    deadline = time.monotonic() + float(limit_seconds)
    left = True
    while left and time.monotonic() < deadline:
        begin = time.monotonic()
        left = peer.left()
        cost = time.monotonic() - begin  # dead rows make looking dear: it must not be in the way
        time.sleep(max(POLL_SECONDS, cost * LOOKS_PART))  # noqa: ASYNC251 - nothing else runs here
    print("late" if left else "drained", flush=True)
    sys.stdin.readline()
    return asdict(peer.span())


VERBS: dict[str, Callable[..., Awaitable[object]]] = {
    verb.__name__: verb
    for verb in (describe, prepare, fill, bulk, singles, latency, senders, watch)
}


def main(queue: str, verb: str, *arguments: str) -> None:
    make: Any = import_module(f"benchmarks.peers.{queue}").make
    peer = cast("Peer", make(Setup.from_environment()))
    if verb == "work":
        peer.work()
        return
    measured = asyncio.run(cast("Any", VERBS[verb](peer, *arguments)))
    print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

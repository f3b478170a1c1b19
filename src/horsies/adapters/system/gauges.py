"""Memory and CPU of this process and of those that it is told of."""

import os
from collections.abc import Callable, Iterable
from time import monotonic

import psutil

from horsies.domain.worker import Gauge

AT_MOST_EVERY_SECONDS = 1.0
"""Beats may come in bursts; over a shorter time a share of CPU would say nothing."""


class SystemGauges:
    """Only processes that are named are read: looking for children reads the whole machine."""

    def __init__(self, children: Callable[[], Iterable[int]]) -> None:
        self._children = children
        self._processes: dict[int, psutil.Process] = {}
        self._seconds: dict[int, float] = {}
        self._read_at = monotonic()
        self._gauge = Gauge()
        self._measure(0.0)

    def read(self) -> Gauge:
        elapsed = monotonic() - self._read_at
        if elapsed >= AT_MOST_EVERY_SECONDS:
            self._read_at += elapsed
            self._measure(elapsed)
        return self._gauge

    def _measure(self, elapsed: float) -> None:
        memory, used, seconds = 0, 0.0, dict[int, float]()
        for pid in (os.getpid(), *self._children()):
            try:
                process = self._process(pid)
                memory += process.memory_info().rss
                times = process.cpu_times()
            except psutil.Error:  # it has just ended
                continue
            seconds[pid] = times.user + times.system
            used += seconds[pid] - self._seconds.get(pid, 0.0)
        self._seconds = seconds
        self._processes = {pid: self._processes[pid] for pid in seconds}
        self._gauge = Gauge(memory, round(used / elapsed, 3) if elapsed else 0.0)

    def _process(self, pid: int) -> psutil.Process:
        if pid not in self._processes:
            self._processes[pid] = psutil.Process(pid)
        return self._processes[pid]

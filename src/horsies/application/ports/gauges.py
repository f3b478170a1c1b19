"""What a worker and its children use."""

from typing import Protocol

from horsies.domain.worker import Gauge


class Gauges(Protocol):
    def read(self) -> Gauge:
        """Cheap enough for every beat; the share of CPU is that since the last reading."""
        ...

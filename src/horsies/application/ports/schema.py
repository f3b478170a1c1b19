"""The tables themselves: which version they have, and bringing them to the present one."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What this client knows and needs, and what it has found."""

    newest: int
    needed: int
    version: int | None = None
    oldest_client: int = 0

    @property
    def found(self) -> int:
        return -1 if self.version is None else self.version

    @property
    def too_new(self) -> bool:
        """Whether the schema no longer serves clients as old as this one."""
        return self.oldest_client > self.newest

    @property
    def problem(self) -> str | None:
        """Why this client cannot work with it, in one sentence."""
        if self.version is None:
            return "the tables of Horsies are not there: run `horsies db migrate`"
        if self.found < self.needed:
            return (
                f"the tables have version {self.version} and this Horsies needs {self.needed}: "
                "run `horsies db migrate`"
            )
        if self.too_new:
            return (
                f"the tables have version {self.version}, which serves clients from "
                f"{self.oldest_client} on, and this Horsies is {self.newest}: upgrade Horsies"
            )
        return None


class Schema(Protocol):
    async def state(self) -> SchemaState: ...

    async def migrate(self) -> tuple[str, ...]:
        """Apply what is missing, safely among many; gives the names of what was applied."""
        ...

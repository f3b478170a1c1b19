"""Which child runs which task."""

from collections.abc import Callable, Sequence
from itertools import count

from horsies.adapters.execution.child import Child, Held, Use
from horsies.adapters.execution.paces import Paces
from horsies.application.ports.executor import Capacity
from horsies.application.ports.grant import Grant
from horsies.application.ports.performer import Performer
from horsies.domain.run_ahead import may_wait_in_line, room_in_line

UNLIMITED = 1 << 30


class Placing:
    """`bear` makes a new child for a task that is to have a process of its own, and `dismiss`
    sends away the one whose place it takes.
    """

    def __init__(
        self,
        children: dict[int, Child],
        performer: Performer,
        bear: Callable[[], Child],
        dismiss: Callable[[Child], None],
        *,
        concurrency: int,
        line_seconds: float,
        max_tasks: int = 0,
    ) -> None:
        self._children = children
        self._performer = performer
        self._bear = bear
        self._dismiss = dismiss
        self._concurrency = concurrency
        self._line_seconds = line_seconds
        self._max_tasks = max_tasks
        self._handles = count(1)
        self.paces = Paces(line_seconds)

    @property
    def capacity(self) -> Capacity:
        children = self._children.values()
        light = self.paces.light
        return Capacity(
            sum(child.is_free for child in children),
            sum(self._async_room(child) for child in children),
            sum(self._room_in_line(child) for child in children) if light else 0,
            light,
        )

    def place(self, grants: Sequence[Grant]) -> list[Grant]:
        """Hand them out; gives back those for which there is no place."""
        in_line: list[Grant] = []
        together: list[Grant] = []
        left: list[Grant] = []
        for grant in grants:
            if self._may_wait_in_line(grant):
                in_line.append(grant)
            elif not grant.crashes and self._performer.is_async(grant.name):
                together.append(grant)
            elif not self._place_alone(grant):
                left.append(grant)
        return [*left, *self._place_together(together), *self._line_up(in_line)]

    def note(self, runs: Sequence[tuple[str, float]]) -> None:
        """What sync runs have taken. Those with a process of their own never stand in line."""
        fresh = self._performer.needs_fresh
        self.paces.note([run for run in runs if not fresh(run[0])])

    def _may_wait_in_line(self, grant: Grant) -> bool:
        light = self.paces.light
        return may_wait_in_line(
            grant.name, grant.terms, grant.crashes, expires=grant.expires, light=light
        )

    def _line_up(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        """Every line has room for all: it was claimed by the sum of their rooms."""
        lines = [child for child in self._children.values() if child.has_line] if grants else []
        return self._spread(grants, lines, Use.LINE, most=UNLIMITED)

    def _place_together(self, grants: Sequence[Grant]) -> Sequence[Grant]:
        """With other async tasks first, so that children stay free for sync ones."""
        children = self._children.values()
        for use in (Use.ASYNC, Use.NOTHING):
            fit = [child for child in children if child.is_open and child.present_use is use]
            grants = self._spread(grants, fit, Use.ASYNC, most=self._concurrency)
        return grants

    def _spread(
        self, grants: Sequence[Grant], children: Sequence[Child], use: Use, *, most: int
    ) -> Sequence[Grant]:
        """So that all come to hold as many, what was claimed first going to who holds least."""
        if not grants or not children:
            return grants
        total = len(grants) + sum(len(child.held) for child in children)
        level = min(most, -(-total // len(children)))
        for child in sorted(children, key=lambda child: len(child.held)):
            room = min(max(0, level - len(child.held)), self._life(child))
            self._run(child, grants[:room], use)
            grants = grants[room:]
        return grants

    def _place_alone(self, grant: Grant) -> bool:
        """A sync task, or one that has killed its process before, runs beside nothing else."""
        free = (child for child in self._children.values() if child.is_free)
        if self._performer.needs_fresh(grant.name):
            child = min(free, key=lambda child: child.runs, default=None)
            child = None if child is None else self._unused(child)
        else:
            child = next(free, None)
        if child is not None:
            self._run(child, [grant], Use.ALONE)
        return child is not None

    def _run(self, child: Child, grants: Sequence[Grant], use: Use) -> None:
        if grants:
            is_async = use is not Use.LINE and self._performer.is_async(grants[0].name)
            child.run([Held(next(self._handles), grant, is_async) for grant in grants], use)

    def _unused(self, child: Child) -> Child:
        """This one if it has run nothing yet, else a new one in its place; used for one run."""
        if child.runs:
            child.replaced = True
            self._dismiss(child)
            child = self._bear()
        child.leaving = True
        return child

    def _room_in_line(self, child: Child) -> int:
        if not child.has_line:
            return 0
        room = room_in_line(len(child.held), self.paces.usual, self._line_seconds)
        return min(room, self._life(child))

    def _async_room(self, child: Child) -> int:
        return min(child.async_room(self._concurrency), self._life(child))

    def _life(self, child: Child) -> int:
        """How many more tasks it may be given before it is replaced."""
        if not self._max_tasks:
            return UNLIMITED
        return max(0, self._max_tasks - child.runs - len(child.held))

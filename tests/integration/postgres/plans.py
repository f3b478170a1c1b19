"""How the server would carry out a statement, in the plan that every execution shares."""

import re
from dataclasses import dataclass
from itertools import count

from horsies.adapters.postgres.queries import Queries

_PLACE = re.compile(r"%\((\w+)\)s")
_names = count()


@dataclass(frozen=True)
class Node:
    """One step of a plan."""

    kind: str
    table: str | None
    index: str | None
    rows: float
    filtered: float


def explain(connection, query, types, values=None):
    """With `values` (as SQL) the statement is carried out, and its rows are counted."""
    names = list(dict.fromkeys(_PLACE.findall(Queries("public")(query))))
    assert sorted(names) == sorted(types), query
    text = _PLACE.sub(lambda place: f"${names.index(place[1]) + 1}", Queries("public")(query))
    prepared = f"plan_{next(_names)}"
    kinds = _bracketed(types[name] for name in names)
    given = _bracketed((values or {}).get(name, "NULL") for name in names)
    connection.execute(f"PREPARE {prepared} {kinds} AS {text}".encode())
    options = "ANALYZE, TIMING OFF, FORMAT JSON" if values else "FORMAT JSON"
    statement = f"EXPLAIN ({options}) EXECUTE {prepared} {given}"
    with connection.transaction(force_rollback=True):
        (((plan,),),) = connection.execute(statement.encode()).fetchall()
    return list(_nodes(plan["Plan"]))


def _bracketed(words):
    listed = ", ".join(words)
    return f"({listed})" if listed else ""


def _nodes(plan):
    runs = plan.get("Actual Loops", 1)
    yield Node(
        plan["Node Type"],
        plan.get("Relation Name"),
        plan.get("Index Name"),
        plan.get("Actual Rows", 0) * runs,
        plan.get("Rows Removed by Filter", 0) * runs,
    )
    for child in plan.get("Plans", ()):
        yield from _nodes(child)

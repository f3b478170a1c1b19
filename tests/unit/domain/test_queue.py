"""A worker never claims more than it, its queues and the cluster have room for."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from horsies.domain.queue import (
    DEFAULT_QUEUE,
    ClaimOrder,
    InFlight,
    Queue,
    Room,
    Share,
    plan_claims,
)
from tests.unit.domain.strategies import WORKER_ID

small = st.integers(0, 12)
names = st.sampled_from(list("abcdef"))
queues = st.lists(
    st.builds(Queue, name=names, priority=st.integers(1, 3), max_concurrency=st.none() | small),
    unique_by=lambda queue: queue.name,
)
rooms = st.builds(
    Room,
    free_slots=st.integers(-2, 12),
    held=small,
    prefetched=small,
    prefetch_buffer=small,
    max_held=small,
    max_batch=small,
)
in_flight = st.dictionaries(names, small).map(lambda by: InFlight(sum(by.values()), by))
caps = st.none() | st.integers(1, 20)
excluded = st.frozensets(st.sampled_from(["resize", "mail"]))

A, B, C = Queue(name="a"), Queue(name="b"), Queue(name="c", priority=2)
ROOM = Room(free_slots=4)


def plan(*queues: Queue, room: Room = ROOM, flying: InFlight | None = None, **options):
    return plan_claims(WORKER_ID, queues, room, flying or InFlight(), **options)


def allowed(orders: tuple[ClaimOrder, ...]) -> int:
    return sum(order.limit for order in orders)


def shares(order: ClaimOrder) -> list[Share]:
    return [share for tier in order.tiers for share in tier]


@given(queues, rooms, in_flight, caps)
def test_orders_never_allow_more_than_there_is_room_for(queues, room, flying, cap):
    orders = plan(*queues, room=room, flying=flying, cluster_cap=cap)
    ahead = max(0, room.prefetch_buffer - room.prefetched)
    assert allowed(orders) <= max(0, room.free_slots) + ahead


@given(queues, rooms, in_flight, caps)
def test_what_is_started_fits_the_free_slots(queues, room, flying, cap):
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        assert not order.start or order.limit <= room.free_slots


@given(queues, rooms, in_flight, caps)
def test_what_is_prefetched_fits_the_buffer(queues, room, flying, cap):
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        assert order.start or order.limit <= room.prefetch_buffer - room.prefetched


@given(queues, rooms, in_flight, st.integers(1, 20))
def test_the_cluster_cap_is_never_passed(queues, room, flying, cap):
    orders = plan(*queues, room=room, flying=flying, cluster_cap=cap)
    assert allowed(orders) <= max(0, cap - flying.total)


@given(queues, rooms, in_flight, caps)
def test_the_cap_of_a_queue_is_never_passed(queues, room, flying, cap):
    by_name = {queue.name: queue for queue in queues}
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        for share in shares(order):
            limit = by_name[share.queue].max_concurrency
            assert limit is None or share.limit + flying.by_queue.get(share.queue, 0) <= limit


@given(queues, rooms, in_flight, caps)
def test_no_queue_is_offered_twice_in_one_order(queues, room, flying, cap):
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        offered = [share.queue for share in shares(order)]
        assert len(offered) == len(set(offered))


@given(queues, rooms, in_flight, caps)
def test_a_capped_queue_is_never_prefetched(queues, room, flying, cap):
    capped = {queue.name for queue in queues if queue.capped}
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        assert order.start or not capped & {share.queue for share in shares(order)}


@given(queues, rooms, in_flight, st.integers(1, 20))
def test_nothing_is_prefetched_under_a_cluster_cap(queues, room, flying, cap):
    assert all(o.start for o in plan(*queues, room=room, flying=flying, cluster_cap=cap))


@given(queues, rooms, in_flight, caps)
def test_a_cap_of_zero_is_never_served(queues, room, flying, cap):
    stopped = [replace(queue, max_concurrency=0) for queue in queues]
    assert plan(*stopped, room=room, flying=flying, cluster_cap=cap) == ()


@given(queues, rooms, in_flight, caps)
def test_tiers_come_in_order_of_priority_and_pool_what_is_equal(queues, room, flying, cap):
    priority = {queue.name: queue.priority for queue in queues}
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        tiers = [{priority[share.queue] for share in tier} for tier in order.tiers]
        assert all(len(tier) == 1 for tier in tiers)
        ranks = [tier.pop() for tier in tiers]
        assert ranks == sorted(set(ranks))


@given(queues, rooms, in_flight, caps)
def test_the_plan_does_not_depend_on_the_order_of_the_queues(queues, room, flying, cap):
    forwards = plan(*queues, room=room, flying=flying, cluster_cap=cap)
    assert forwards == plan(*reversed(queues), room=room, flying=flying, cluster_cap=cap)


@given(queues, rooms, in_flight, caps, excluded)
def test_excluded_names_travel_with_every_order(queues, room, flying, cap, names):
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap, excluded=names):
        assert order.excluded == names


@given(queues, rooms, in_flight, caps)
def test_a_batch_of_one_queue_is_never_larger_than_allowed(queues, room, flying, cap):
    for order in plan(*queues, room=room, flying=flying, cluster_cap=cap):
        for share in shares(order):
            assert 0 < share.limit <= min(order.limit, room.max_batch or order.limit)


@given(queues, rooms, in_flight, caps)
def test_a_worker_never_holds_more_than_it_may(queues, room, flying, cap):
    orders = plan(*queues, room=room, flying=flying, cluster_cap=cap)
    assert not room.max_held or allowed(orders) <= max(0, room.max_held - room.held)


@given(small, small, st.integers(1, 12))
def test_starts_and_prefetch_share_what_a_worker_may_hold(free, buffer, most):
    orders = plan(A, room=Room(free_slots=free, prefetch_buffer=buffer, max_held=most))
    assert allowed(orders) == min(free + buffer, most)


@given(queues, in_flight, caps, st.integers(-3, 0))
def test_without_room_there_are_no_orders(queues, flying, cap, free):
    assert plan(*queues, room=Room(free_slots=free), flying=flying, cluster_cap=cap) == ()


@given(rooms, in_flight, caps)
def test_without_queues_there_are_no_orders(room, flying, cap):
    assert plan(room=room, flying=flying, cluster_cap=cap) == ()


@given(st.integers(1, 12), st.integers(1, 12))
def test_an_idle_worker_asks_for_all_it_can_take(free, buffer):
    orders = plan(A, room=Room(free_slots=free, prefetch_buffer=buffer))
    assert [(order.limit, order.start) for order in orders] == [(free, True), (buffer, False)]


def test_queues_of_equal_priority_share_a_tier():
    (order,) = plan(C, B, A)
    assert order.tiers == ((Share("a", 4), Share("b", 4)), (Share("c", 4),))


def test_an_order_is_signed_by_its_worker():
    (order,) = plan(A)
    assert order.worker == WORKER_ID


def test_a_capped_queue_gets_what_the_cluster_has_left():
    (order,) = plan(Queue(name="a", max_concurrency=3), flying=InFlight(2, {"a": 2}))
    assert order.tiers == ((Share("a", 1),),)


def test_a_full_queue_is_left_out_and_the_others_are_served():
    (order,) = plan(Queue(name="a", max_concurrency=2), B, flying=InFlight(2, {"a": 2}))
    assert order.tiers == ((Share("b", 4),),)


def test_a_batch_limits_each_queue_and_not_the_order():
    (order,) = plan(A, B, room=Room(free_slots=4, max_batch=2))
    assert (order.limit, order.tiers) == (4, ((Share("a", 2), Share("b", 2)),))


def test_a_full_cluster_claims_nothing():
    assert plan(A, flying=InFlight(5), cluster_cap=5) == ()


def test_a_worker_that_holds_all_it_may_claims_nothing():
    assert plan(A, room=Room(free_slots=4, held=3, max_held=3)) == ()


def test_a_full_buffer_stops_the_prefetch_and_not_the_start():
    orders = plan(A, room=Room(free_slots=1, prefetched=2, prefetch_buffer=2))
    assert [order.start for order in orders] == [True]


def test_a_queue_is_uncapped_and_of_first_priority_unless_told():
    queue = Queue(name=DEFAULT_QUEUE)
    assert (queue.priority, queue.capped, queue.max_pending) == (1, False, None)


def test_a_queue_with_a_cap_of_zero_counts_as_capped():
    assert Queue(name="a", max_concurrency=0).capped

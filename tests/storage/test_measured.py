"""A measured store behaves as its store does, and reports the durations."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sampan.storage.measured import MeasuredStore
from sampan.storage.memory import MemoryStore
from sampan.storage.store import Conflict, FutureRevision, KeyExists, Store

KEY = "/registry/pods/default/a"


async def create(store: Store) -> Any:
    return await store.create(KEY, b"1")


async def update(store: Store) -> Any:
    return await store.update(KEY, b"2", await store.create(KEY, b"1"))


async def delete(store: Store) -> Any:
    return await store.delete(KEY, await store.create(KEY, b"1"))


async def get(store: Store) -> Any:
    return await store.get(KEY)


async def listed(store: Store) -> Any:
    return await store.range("/registry/pods/", "/registry/pods0")


@pytest.mark.parametrize(
    ("work", "operations"),
    [
        (create, ["create"]),
        (update, ["create", "update"]),
        (delete, ["create", "delete"]),
        (get, ["get"]),
        (listed, ["list"]),
    ],
    ids=["create", "update", "delete", "get", "list"],
)
async def test_an_operation_is_done_and_measured(
    work: Callable[[Store], Awaitable[Any]], operations: list[str]
) -> None:
    observed: list[tuple[str, float]] = []
    measured = MeasuredStore(MemoryStore(), lambda operation, seconds: observed.append((operation, seconds)))
    assert await work(measured) == await work(MemoryStore())
    assert [operation for operation, _ in observed] == operations
    assert all(0 <= seconds < 10 for _, seconds in observed)


async def test_a_failure_is_measured_too() -> None:
    observed: list[str] = []
    measured = MeasuredStore(MemoryStore(), lambda operation, seconds: observed.append(operation))
    await measured.create(KEY, b"1")
    with pytest.raises(KeyExists):
        await measured.create(KEY, b"2")
    assert observed == ["create", "create"]


async def test_failed_operations_are_reported_except_for_conflicts() -> None:
    failed: list[str] = []
    measured = MeasuredStore(MemoryStore(), lambda operation, seconds: None, failed.append)
    await measured.create(KEY, b"1")
    with pytest.raises(KeyExists):
        await measured.create(KEY, b"2")
    with pytest.raises(Conflict):
        await measured.update(KEY, b"2", 99)
    assert failed == []
    with pytest.raises(FutureRevision):
        await measured.range("/registry/pods/", "/registry/pods0", revision=99)
    assert failed == ["list"]

"""A store whose watches are late."""

import asyncio
from collections.abc import Sequence

import pytest

from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import StoreEvent

LATE_S = 0.1


def delay_events(store: EtcdStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delay the watch events of etcd until after the responses."""
    dispatch, loop = store._broadcaster.dispatch, asyncio.get_running_loop()

    def now(events: Sequence[StoreEvent], revision: int) -> None:
        dispatch(events, revision)
        store._watch._settle_waiters()

    def later(events: Sequence[StoreEvent], revision: int) -> None:
        loop.call_later(LATE_S, now, events, revision)

    monkeypatch.setattr(store._broadcaster, "dispatch", later)

"""`recover`: cleans up after an agent that was killed, and restores the records of its containers.

A container does not outlive its agent, because its output would be lost. The restart policy decides which containers
run again.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from sampan.node.pods.status_records import KILLED_REASON
from sampan.node.process.proc import boot_id, kill_family, kill_marked
from sampan.node.process.state import StateDirectories, StoredContainer, StoredSandbox
from sampan.node.runtime import ContainerRecord

_KILLED: Final = 137
_MESSAGE: Final = "the node agent ended while the container was running"


def recover(
    state: StateDirectories, uids: Iterable[str], now: dt.datetime
) -> Iterable[tuple[StoredSandbox, Mapping[str, ContainerRecord]]]:
    """Return the stored Pods among `uids`, with their containers as ended; delete all other Pods.

    Blocks until all remaining processes were killed, usually some milliseconds.
    """
    desired = set(uids)
    boot = boot_id()
    found = []
    for sandbox in list(state.sandboxes()):
        records = {}
        for stored in state.containers(sandbox.uid):
            if stored.record.is_running:
                stored = _end(stored, boot, now)
                if sandbox.uid in desired:
                    state.store_container(sandbox.uid, stored)
            records[stored.record.name] = stored.record
        if sandbox.uid in desired:
            found.append((sandbox, records))
        else:
            state.drop_sandbox(sandbox)
    return found


def _end(stored: StoredContainer, boot: str, now: dt.datetime) -> StoredContainer:
    if stored.boot_id == boot:
        kill_family(stored.pid, stored.start_ticks)
        if stored.mark:
            kill_marked(stored.mark)
    record = replace(
        stored.record,
        finished_at=now,
        ready=False,
        started=False,
        exit_code=_KILLED,
        reason=KILLED_REASON,
        message=_MESSAGE,
    )
    return StoredContainer(record)

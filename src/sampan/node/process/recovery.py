"""What an agent that was killed has left: its processes are ended, its records told, its directories deleted.

A container does not outlive its agent: its output would have nobody to go to. The restart policy decides what runs
again, so nothing runs twice.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from sampan.node.process.proc import boot_id, kill_family, kill_marked
from sampan.node.process.state import KeptContainer, KeptSandbox, State
from sampan.node.runtime import ContainerRecord
from sampan.node.status_records import KILLED_REASON

_KILLED: Final = 137
_MESSAGE: Final = "the node agent ended while the container was running"


def recover(
    state: State, uids: Iterable[str], now: dt.datetime
) -> Iterable[tuple[KeptSandbox, Mapping[str, ContainerRecord]]]:
    """The Pods of `uids` that were here, with their containers, all of which have ended; all others are deleted.

    Blocks until what was left running is gone, as a rule some milliseconds.
    """
    wanted = set(uids)
    boot = boot_id()
    found = []
    for sandbox in list(state.sandboxes()):
        records = {}
        for kept in state.containers(sandbox.uid):
            if kept.record.is_running:
                kept = _end(kept, boot, now)
                if sandbox.uid in wanted:
                    state.keep_container(sandbox.uid, kept)
            records[kept.record.name] = kept.record
        if sandbox.uid in wanted:
            found.append((sandbox, records))
        else:
            state.drop_sandbox(sandbox)
    return found


def _end(kept: KeptContainer, boot: str, now: dt.datetime) -> KeptContainer:
    if kept.boot_id == boot:
        kill_family(kept.pid, kept.start_ticks)
        if kept.mark:
            kill_marked(kept.mark)
    record = replace(
        kept.record,
        finished_at=now,
        ready=False,
        started=False,
        exit_code=_KILLED,
        reason=KILLED_REASON,
        message=_MESSAGE,
    )
    return KeptContainer(record)

"""Maintenance that administrators do on etcd while it serves: through its HTTP API, as etcdctl does through gRPC."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from itertools import cycle
from typing import Any

from tests.robustness.scene import Fault, Scene
from tests.storage.etcd.server import Member

NEXT = os.environ.get("SAMPAN_TEST_ETCD_NEXT")
"""A later etcd, to which `etcds_upgraded` goes over."""
_TIMEOUT_S = 60.0
_ATTEMPT_S = 5.0
_PAUSE_S = 0.1


async def etcds_defragmented(scene: Scene) -> None:
    """One after the other: a member answers nothing meanwhile."""
    for member in scene.machines.members:
        await _until_done([member], "maintenance/defragment", {})
        await scene.hold(0.1, 0.5)


async def etcd_leader_moved(scene: Scene) -> None:
    for _ in range(3):
        leader = await scene.machines.leader()
        with suppress(OSError):
            ids = await _ids(leader)
            rest = [number for name, number in ids.items() if name != leader.name]
            await _fetch(leader, "maintenance/transfer-leadership", {"targetID": scene.random.choice(rest)})
        await scene.hold(0.2, 1)


async def etcd_replaced(scene: Scene) -> None:
    """A member is taken out, and comes back with another identity and no data, at the same address."""
    await _replaced(scene, learns=False)


async def etcd_replaced_by_a_learner(scene: Scene) -> None:
    """Like `etcd_replaced`, but the new member has no vote, and answers nothing, until it has all data."""
    await _replaced(scene, learns=True)


async def etcds_upgraded(scene: Scene) -> None:
    """One after the other starts again as what `NEXT` names."""
    assert NEXT is not None, "SAMPAN_TEST_ETCD_NEXT must name the later etcd"
    for member in scene.machines.members:
        await asyncio.to_thread(member.stop)
        member.binary = NEXT
        member.start(scene.machines.members)
        await asyncio.to_thread(member.wait)
        await _well(scene.machines.members)
        await scene.hold(0.2, 1)


async def _replaced(scene: Scene, *, learns: bool) -> None:
    members = scene.machines.members
    member = scene.member()
    rest = [each for each in members if each is not member]
    await _remove(rest, member)
    await scene.hold(0, 0.5)
    member.kill()
    shutil.rmtree(member.directory / "member")
    added = await _added(rest, {"peerURLs": [member.peer_url], "isLearner": learns})
    member.more = (*member.more, "--initial-cluster-state=existing")
    member.start(members)
    await asyncio.to_thread(member.wait)
    if learns:
        await scene.hold(0.5, 2)
        await _until_done(rest, "cluster/member/promote", {"ID": added})
    await _well(members)


async def _remove(rest: list[Member], member: Member) -> None:
    """etcd refuses it for some seconds after it was started or had an election."""
    async with asyncio.timeout(_TIMEOUT_S):
        for other in cycle(rest):
            with suppress(OSError):
                number = (await _ids(other)).get(member.name)
                if number is None:
                    return
                await _fetch(other, "cluster/member/remove", {"ID": number})
            await asyncio.sleep(_PAUSE_S)


async def _added(rest: list[Member], body: Mapping[str, Any]) -> str:
    """The id of a member that is new. Others may not be well enough for it at once, or add it without saying so."""
    async with asyncio.timeout(_TIMEOUT_S):
        for other in cycle(rest):
            with suppress(OSError):
                number = (await _ids(other)).get("")
                if number is not None:
                    return number
                await _fetch(other, "cluster/member/add", body)
            await asyncio.sleep(_PAUSE_S)
    raise AssertionError


async def _until_done(members: list[Member], what: str, body: Mapping[str, Any]) -> None:
    async with asyncio.timeout(_TIMEOUT_S):
        for member in cycle(members):
            with suppress(OSError):
                await _fetch(member, what, body)
                return
            await asyncio.sleep(_PAUSE_S)


async def _well(members: list[Member]) -> None:
    """Returns when each member has a leader and answers."""
    for member in members:
        await _until_done([member], "kv/range", {"key": "Lg=="})


async def _ids(member: Member) -> dict[str, str]:
    """The ids of all members, by their names. Raises `OSError`."""
    response = await _fetch(member, "cluster/member/list")
    return {each.get("name", ""): each["ID"] for each in response["members"]}


async def _fetch(member: Member, what: str, body: Mapping[str, Any] | None = None) -> Any:
    """One attempt. Raises `OSError`. etcd may never answer what was lost with a leader."""
    return await asyncio.to_thread(member.call, what, body, timeout_s=_ATTEMPT_S)


UPKEEP: tuple[Fault, ...] = (
    etcds_defragmented,
    etcd_leader_moved,
    etcd_replaced,
    etcd_replaced_by_a_learner,
    *((etcds_upgraded,) if NEXT else ()),
)

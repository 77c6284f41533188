"""Faults that machines can have anywhere. Each is an asynchronous function that ends when all is as it was."""

import asyncio
import signal

from tests.robustness.scene import Fault, Scene
from tests.robustness.traffic import now
from tests.storage.etcd.server import Member


async def server_killed(scene: Scene) -> None:
    server = scene.server()
    began = now()
    await server.kill()
    await scene.hold(0, 1)
    await server.start()
    server.away.append((began, now()))


async def server_stopped(scene: Scene) -> None:
    """A server shuts down gracefully, and starts again."""
    server = scene.server()
    began = now()
    await server.stop()
    await scene.hold(0.5, 3)
    await server.start()
    server.away.append((began, now()))


async def server_away_for_long(scene: Scene) -> None:
    """A server reaches no etcd for longer than leases and timeouts last."""
    proxies = scene.proxied().proxies
    for proxy in proxies:
        proxy.block()
    await asyncio.sleep(scene.random.uniform(11, 14))
    for proxy in proxies:
        proxy.repair()


async def server_frozen(scene: Scene) -> None:
    server = scene.server()
    began = now()
    server.send(signal.SIGSTOP)
    await scene.hold(1, 4)
    server.send(signal.SIGCONT)
    server.away.append((began, now()))


async def etcd_killed(scene: Scene) -> None:
    await _killed(scene, [scene.member()], 3)


async def etcd_leader_killed(scene: Scene) -> None:
    await _killed(scene, [await scene.machines.leader()], 3)


async def most_etcds_killed(scene: Scene) -> None:
    await _killed(scene, scene.random.sample(scene.machines.members, 2), 9)


async def all_etcds_killed(scene: Scene) -> None:
    await _killed(scene, scene.machines.members, 4)


async def _killed(scene: Scene, members: list[Member], longest_s: float) -> None:
    for member in members:
        member.kill()
    await scene.hold(0.2, longest_s)
    for member in members:
        member.start(scene.machines.members)
    await asyncio.gather(*(asyncio.to_thread(member.wait) for member in members))


async def etcd_leader_frozen(scene: Scene) -> None:
    leader = await scene.machines.leader()
    leader.freeze()
    await scene.hold(1, 5)
    leader.thaw()


async def etcd_stutters(scene: Scene) -> None:
    """As with a disk that is slow now and then."""
    members = scene.random.sample(scene.machines.members, 2)
    for _ in range(10):
        for member in members:
            member.freeze()
        await scene.hold(0.05, 0.4)
        for member in members:
            member.thaw()
        await scene.hold(0.05, 0.2)


async def server_parted(scene: Scene) -> None:
    """A server reaches no etcd, or only one; packets are lost or connections refused."""
    proxies = scene.proxied().proxies
    chosen = proxies if scene.random.random() < 0.5 else scene.random.sample(proxies, 2)
    cut = scene.random.random() < 0.5
    for proxy in chosen:
        if cut:
            proxy.cut()
        else:
            proxy.block()
    await scene.hold(1, 8)
    for proxy in chosen:
        proxy.repair()


async def connections_cut(scene: Scene) -> None:
    for _ in range(5):
        for proxy in scene.proxied().proxies:
            proxy.cut()
            proxy.repair()
        await scene.hold(0.1, 0.5)


async def network_slow(scene: Scene) -> None:
    proxies = scene.proxied().proxies
    for proxy in proxies:
        proxy.delay_s = scene.random.choice((0.02, 0.05, 0.1, 0.4))
    await scene.hold(2, 5)
    for proxy in proxies:
        proxy.repair()


async def etcd_full(scene: Scene) -> None:
    await scene.machines.alarm(on=True)
    await scene.hold(0.5, 3)
    await scene.machines.alarm(on=False)


async def history_forgotten(scene: Scene) -> None:
    for _ in range(3):
        await scene.committed.compact()
        await scene.hold(0.1, 1)


async def server_slept_through(scene: Scene) -> None:
    """A server stands still, and what happens meanwhile is forgotten before it wakes."""
    server = scene.server()
    began = now()
    server.send(signal.SIGSTOP)
    for _ in range(3):
        await scene.hold(0.3, 1.5)
        await scene.committed.compact()
    server.send(signal.SIGCONT)
    server.away.append((began, now()))


async def clock_jumped(scene: Scene) -> None:
    server = scene.server()
    server.jump(scene.random.choice((-7200, -10, 10, 7200)))
    await scene.hold(1, 4)
    server.jump(0)


FAULTS: tuple[Fault, ...] = (
    server_killed,
    server_stopped,
    server_away_for_long,
    server_frozen,
    etcd_killed,
    etcd_leader_killed,
    most_etcds_killed,
    all_etcds_killed,
    etcd_leader_frozen,
    etcd_stutters,
    server_parted,
    connections_cut,
    network_slow,
    etcd_full,
    history_forgotten,
    server_slept_through,
    clock_jumped,
)

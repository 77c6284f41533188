"""Packets are lost between some machines (`network.Network`), while clients reach all of them."""

from tests.robustness.machines import host_of
from tests.robustness.network import Network
from tests.robustness.scene import Fault, Scene
from tests.storage.etcd.server import Member


async def etcd_leader_parted(scene: Scene) -> None:
    """The leader reaches no other member, nor they it."""
    leader = await scene.machines.leader()
    for peer in _peers(scene, leader):
        _network(scene).part(host_of(leader), host_of(peer))
    await _last(scene)


async def etcd_leader_unheard(scene: Scene) -> None:
    """The leader receives packets from the other members, and they receive none from it."""
    leader = await scene.machines.leader()
    for peer in _peers(scene, leader):
        _network(scene).lose(host_of(leader), host_of(peer))
    await _last(scene)


async def etcd_leader_deaf(scene: Scene) -> None:
    """The other members receive packets from the leader, and it receives none from them."""
    leader = await scene.machines.leader()
    for peer in _peers(scene, leader):
        _network(scene).lose(host_of(peer), host_of(leader))
    await _last(scene)


async def etcds_parted(scene: Scene) -> None:
    """Two members do not reach each other, and both reach the third."""
    one, other = scene.random.sample(scene.machines.members, 2)
    _network(scene).part(host_of(one), host_of(other))
    await _last(scene)


async def cluster_parted(scene: Scene) -> None:
    """One etcd and one server on one side, two etcds and the other server on the other."""
    alone = scene.member()
    few, many = scene.random.sample(scene.machines.servers, 2)
    for peer in _peers(scene, alone):
        _network(scene).part(host_of(alone), host_of(peer))
        scene.machines.part(few, peer)
    scene.machines.part(many, alone)
    await _last(scene)


async def server_unheard(scene: Scene) -> None:
    """Some etcds receive no packets from a server, or it receives none from them."""
    server = next(server for server in scene.machines.servers if not server.proxies)
    unheard = scene.random.random() < 0.5
    for member in scene.random.sample(scene.machines.members, scene.random.randint(1, 3)):
        pair = (server.host, host_of(member))
        _network(scene).lose(*(pair if unheard else reversed(pair)))
    await _last(scene)


async def _last(scene: Scene) -> None:
    await scene.hold(1, 8)
    scene.machines.repair()


def _peers(scene: Scene, member: Member) -> list[Member]:
    return [peer for peer in scene.machines.members if peer is not member]


def _network(scene: Scene) -> Network:
    assert scene.machines.network is not None
    return scene.machines.network


PARTITIONS: tuple[Fault, ...] = (
    etcd_leader_parted,
    etcd_leader_unheard,
    etcd_leader_deaf,
    etcds_parted,
    cluster_parted,
    server_unheard,
)

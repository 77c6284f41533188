"""The operator on `Manager` and `Builder`, with probes, metrics and leader election.

python -m network_operator.operator --neutron http://127.0.0.1:9696      (from examples/01-network)
"""

from network_operator.backend import Backend
from network_operator.neutron import NeutronBackend
from network_operator.options import Options, main
from network_operator.reconcile import NetworkReconciler
from network_operator.types import Network
from sampan.client import Client, NotFound
from sampan.operator.builder import Builder
from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import Manager, ManagerOptions
from sampan.operator.predicates import GenerationChanged
from sampan.operator.request import Request

NAME = "network-operator"


async def run(client: Client, options: Options) -> None:
    """Run until SIGTERM or Ctrl-C. Then release the lease, so that another replica takes over at once."""
    election = LeaderElectionConfig(
        NAME,
        "default",
        lease_duration_s=options.lease_s,
        renew_deadline_s=options.lease_s * 2 / 3,
        retry_period_s=options.lease_s * 2 / 15,
    )
    manager = Manager(client, ManagerOptions(leader_election=election, probe_address=options.probes))
    backend = NeutronBackend(options.neutron)
    set_up(manager, backend, recheck_s=options.recheck_s, workers=options.workers)
    try:
        await manager.run(handle_signals=True)
    finally:
        await backend.aclose()


def set_up(manager: Manager, backend: Backend, *, recheck_s: float = 60.0, workers: int = 4) -> None:
    """Add the controller to a manager. Tests do so with a backend in memory."""
    networks = manager.client.resource(Network, namespace="")
    live = manager.client.direct.resource(Network, namespace="")

    async def read_live(request: Request) -> Network | None:
        try:
            return await live.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None

    recorder = manager.event_recorder(NAME)
    reconciler = NetworkReconciler(networks, networks.find, read_live, backend, recorder, recheck_s)
    (
        Builder(manager)
        .for_(Network, predicates=[GenerationChanged()])
        .with_options(max_concurrent_reconciles=workers, warm_up=True)
        .complete(reconciler)
    )


if __name__ == "__main__":
    main(run)

"""The operator on `Manager` and `Builder`, with probes, metrics and leader election.

python -m network_operator.operator --neutron http://127.0.0.1:9696      (from examples/01-network)
"""

import platform
import uuid

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
        identity=f"{platform.node()}_{uuid.uuid4()}",
        lease_duration_s=options.lease_s,
        renew_deadline_s=options.lease_s * 2 / 3,
        retry_period_s=options.lease_s * 2 / 15,
    )
    manager = Manager(client, ManagerOptions(leader_election=election, probe_address=options.probes))
    backend = NeutronBackend(options.neutron)
    networks = manager.client.resource(Network, namespace="")

    async def read(request: Request) -> Network | None:
        try:
            return await manager.client.resource(Network, namespace=request.namespace).get(request.name)
        except NotFound:
            return None

    reconciler = NetworkReconciler(networks, read, backend, manager.event_recorder(NAME), options.recheck_s)
    (
        Builder(manager)
        .for_(Network, predicates=[GenerationChanged()])
        .with_options(max_concurrent_reconciles=options.workers, warm_up=True)
        .complete(reconciler)
    )
    try:
        await manager.run(handle_signals=True)
    finally:
        await backend.aclose()


if __name__ == "__main__":
    main(run)

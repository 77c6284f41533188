"""docs/operator-deployment.md: the manifests can be applied, and the rights are those that the operator needs."""

import re
from pathlib import Path

from sampan.operator import LeaderElectionConfig, Manager, ManagerOptions, OperatorSettings
from sampan.operator.process.checks import missing_parts
from sampan.operator.process.start import _add_metrics_server
from sampan.operator.rights import Right
from sampan.resource import CustomResource, resource
from sampan.testing import Cluster

PAGE = (Path(__file__).parents[3] / "docs" / "operator-deployment.md").read_text()
FILES = dict(re.findall(r"^```yaml\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
USER = "system:serviceaccount:harbour:boats"
GROUPS = ("system:serviceaccounts", "system:authenticated")


@resource(group="harbour.example.com", version="v1")
class Boat(CustomResource):
    spec: dict[str, int]


async def test_the_manifests_give_the_operator_its_rights(cluster: Cluster) -> None:
    await cluster.crds(Boat)
    await cluster.apply(FILES["rights.yaml"])
    await cluster.apply(FILES["deployment.yaml"])
    client = cluster.client(USER, groups=GROUPS)
    manager = Manager(client, ManagerOptions(leader_election=LeaderElectionConfig("boats", "harbour")))
    manager.informer_for(Boat)
    _add_metrics_server(manager, OperatorSettings(), {})
    needed = [*manager.rights(), Right("create", "events.k8s.io", "events", "default")]
    assert len(needed) == 8
    assert await missing_parts(client, [], needed) == []
    [line] = await missing_parts(client, [], [Right("list", "", "secrets", "")])
    assert "list secrets" in line


def test_the_page_names_existing_flags() -> None:
    flags = set(re.findall(r"--[a-z][\w-]+", FILES["deployment.yaml"]))
    assert flags == {"--leader-elect", "--log-format"}

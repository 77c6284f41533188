"""Objects of an operator by its settings and its parts."""

from pathlib import Path
from typing import Any

import pytest

from sampan.client import NotFound
from sampan.project.errors import ProjectError
from sampan.testing import has_condition
from tests.project.bundle.conftest import edit
from tests.project.bundle.installed import found_in, installed, today
from tests.project.conftest import Sampan


def set_table(root: Path, text: str) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write(f"\n[tool.sampan.bundle]\n{text}\n")


def rules(role: dict[str, Any]) -> dict[str, list[str]]:
    return {rule["resources"][0]: rule["verbs"] for rule in role["rules"] if "resources" in rule}


def test_several_replicas_have_a_disruption_budget(fleet: Path) -> None:
    assert not found_in(fleet).of_kind("PodDisruptionBudget")
    set_table(fleet, "replicas = 3")
    [budget] = found_in(fleet).of_kind("PodDisruptionBudget")
    [deployment] = found_in(fleet).of_kind("Deployment")
    assert budget["spec"]["selector"] == deployment["spec"]["selector"]


def test_the_deployment_has_the_settings(fleet: Path) -> None:
    set_table(
        fleet,
        'env = {A = "b"}\npriority-class = "high"\nargs = ["--metrics-bind-address=0"]\n'
        'resources = {limits = {memory = "1Gi"}}\nservice-monitor = true\nnetwork-policy = false',
    )
    found = found_in(fleet)
    [deployment] = found.of_kind("Deployment")
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["priorityClassName"] == "high"
    assert container["env"] == [{"name": "A", "value": "b"}]
    assert container["resources"] == {"limits": {"memory": "1Gi"}}
    assert [port["name"] for port in container["ports"]] == ["health"]
    assert not found.of_kind("Service")
    assert not found.of_kind("NetworkPolicy")
    assert found.of_kind("ServiceMonitor")


def test_without_metrics_the_operator_may_not_review_tokens(fleet: Path) -> None:
    [role, *_] = found_in(fleet).of_kind("ClusterRole")
    assert rules(role)["tokenreviews"] == ["create"]
    set_table(fleet, 'args = ["--metrics-bind-address=0"]')
    [role, *_] = found_in(fleet).of_kind("ClusterRole")
    assert "tokenreviews" not in rules(role)


def test_cert_manager_issues_the_certificate_if_chosen(harbour: Path) -> None:
    set_table(harbour, 'webhook-certificates = "cert-manager"')
    found = found_in(harbour)
    assert not found.of_kind("Secret")
    [certificate] = found.of_kind("Certificate")
    assert certificate["spec"]["dnsNames"][0] == "boats-webhook.boats-system.svc"
    inject = {"cert-manager.io/inject-ca-from": "boats-system/boats-webhook"}
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition"):
        assert inject.items() <= found.of_kind(kind)[0]["metadata"]["annotations"].items()
    [deployment] = found.of_kind("Deployment")
    [volume] = deployment["spec"]["template"]["spec"]["volumes"]
    assert volume["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert "secrets" not in {name for role in found.of_kind("Role") for name in rules(role)}


def test_the_crd_converts_through_the_service_of_the_webhooks(harbour: Path) -> None:
    [crd] = found_in(harbour).of_kind("CustomResourceDefinition")
    conversion = crd["spec"]["conversion"]
    assert conversion["strategy"] == "Webhook"
    service = conversion["webhook"]["clientConfig"]["service"]
    assert service == {"namespace": "boats-system", "name": "boats-webhook", "port": 443, "path": "/convert"}


@pytest.mark.parametrize("namespace", ["default", "harbour"])
def test_the_namespace_is_created_unless_it_belongs_to_kubernetes(fleet: Path, namespace: str) -> None:
    found = found_in(fleet, namespace=namespace)
    assert bool(found.of_kind("Namespace")) == (namespace != "default")
    assert {each["metadata"].get("namespace", namespace) for each in found.objects} == {namespace}


@today
async def test_an_operator_of_some_namespaces_has_roles_only_there(
    harbour: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_table(harbour, 'watch-namespaces = ["north", "south"]')
    found = found_in(harbour)
    [cluster_role] = [each for each in found.of_kind("ClusterRole") if each["metadata"]["name"] == "boats"]
    assert {"boats", "configmaps", "events"}.isdisjoint(rules(cluster_role))
    places = {each["metadata"]["namespace"] for each in found.of_kind("Role") if "boats" in rules(each)}
    assert places == {"north", "south"}
    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("north", "south", "east")
    ]
    async with installed(found, [*namespaces, *found.objects], monkeypatch) as (cluster, _):
        for name in ("south", "east"):
            metadata = {"name": "ada", "namespace": name}
            boat = {"apiVersion": "boats.example.com/v1", "kind": "Boat", "metadata": metadata, "spec": {"length": 7}}
            await cluster.apply(boat)
        await cluster.eventually("boats/ada", has_condition("Ready"), namespace="south")
        await cluster.get("configmaps/ada", namespace="south")
        with pytest.raises(NotFound):
            await cluster.get("configmaps/ada", namespace="east")
        assert not cluster.privileges().refused


def test_further_rules_follow_the_namespaces_unless_they_name_some(fleet: Path) -> None:
    first = '{apiGroups = [""], resources = ["pods"], verbs = ["get"]}'
    second = (
        '{apiGroups = [""], resources = ["secrets"], resourceNames = ["key"], verbs = ["get"], namespaces = ["vault"]}'
    )
    edit(fleet / "pyproject.toml", ("[tool.sampan]\n", f"[tool.sampan]\nrbac = [{first}, {second}]\n"))
    set_table(fleet, 'watch-namespaces = ["north"]')
    roles = {each["metadata"]["namespace"]: rules(each) for each in found_in(fleet).of_kind("Role")}
    assert roles["north"]["pods"] == ["get"]
    assert roles["vault"] == {"secrets": ["get"]}


def test_a_controller_of_a_kind_of_kubernetes_needs_no_crd(boats: Path, sampan: Sampan) -> None:
    assert not sampan("create", "controller", "--watches", "apps/Deployment", folder=boats).return_value
    found = found_in(boats, image="registry.example.com/boats")
    assert not found.of_kind("CustomResourceDefinition")
    [role, *_] = found.of_kind("ClusterRole")
    assert rules(role)["deployments"] == ["list", "watch"]


def test_a_kind_of_another_program_is_watched_but_not_installed(fleet: Path, sampan: Sampan, tmp_path: Path) -> None:
    [crd] = found_in(fleet).of_kind("CustomResourceDefinition")
    text = (fleet / "src/boats/boat/v1.py").read_text()
    (fleet / "src/boats/boat/v1.py").write_text(text + "\nEXTERNAL = True\n")
    found = found_in(fleet)
    assert crd["metadata"]["name"] == "boats.boats.example.com"
    assert not found.of_kind("CustomResourceDefinition")
    [role, *_] = found.of_kind("ClusterRole")
    assert rules(role)["boats"] == ["list", "watch"]
    assert "boats/status" not in rules(role)


def test_a_cluster_wide_kind_is_installed(boats: Path, sampan: Sampan) -> None:
    assert not sampan("create", "api", "--kind", "Sea", "--cluster", folder=boats).return_value
    set_table(boats, 'watch-namespaces = ["north"]')
    found = found_in(boats, image="registry.example.com/boats")
    [role, *_] = found.of_kind("ClusterRole")
    assert rules(role)["seas"] == ["get", "list", "watch"]
    assert rules(role)["seas/status"] == ["patch"]
    # Events about objects without a namespace are in the namespace default.
    places = {each["metadata"]["namespace"] for each in found.of_kind("Role") if "events" in rules(each)}
    assert places == {"north", "default"}


FAULTS = {
    "another Service": (
        "WebhookOptions(ensure",
        'WebhookOptions(service=ServiceReference("a", "b"), ensure',
        "another Service than boats-system/boats-webhook",
    ),
    "any port": ("WebhookOptions(ensure", "WebhookOptions(port=0, ensure", "a Service needs a fixed one"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_webhooks_that_cannot_be_deployed_are_an_error(harbour: Path, name: str) -> None:
    old, new, message = FAULTS[name]
    place = harbour / "src/boats/webhooks/__init__.py"
    edit(place, (old, new), ("import SecretStore,", "import SecretStore, ServiceReference,"))
    with pytest.raises(ProjectError, match=message):
        found_in(harbour)


def test_a_request_before_the_run_is_an_error(fleet: Path) -> None:
    request = '    await manager.client.direct.rest.call("GET", "/api")\n    add_parts(manager'
    edit(fleet / "src/boats/app.py", ("def set_up", "async def set_up"), ("    add_parts(manager", request))
    with pytest.raises(ProjectError, match=r"app.py:\d+: ProjectError: set_up sends GET /api"):
        found_in(fleet)


def test_a_program_that_does_not_call_main_is_an_error(fleet: Path) -> None:
    place = fleet / "src/boats/__main__.py"
    place.write_text("print('boats')\n")
    with pytest.raises(ProjectError, match=r"does not call sampan.operator.main"):
        found_in(fleet)
    place.unlink()
    with pytest.raises(ProjectError, match=r"has no __main__.py"):
        found_in(fleet)


def test_options_of_the_program_are_those_of_the_role(fleet: Path) -> None:
    edit(
        fleet / "src/boats/__main__.py",
        ('name="boats"', 'name="fleet", options=ManagerOptions(namespaces=["docks"])'),
        ("import main", "import ManagerOptions, main"),
    )
    roles = {each["metadata"]["namespace"]: rules(each) for each in found_in(fleet).of_kind("Role")}
    assert roles["docks"]["boats"] == ["get", "list", "watch"]
    [lease] = [rule for role in found_in(fleet).of_kind("Role") for rule in role["rules"] if "update" in rule["verbs"]]
    assert lease["resourceNames"] == ["fleet"]

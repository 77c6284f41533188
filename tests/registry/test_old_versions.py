"""Stored objects in versions that are no longer served are read in the newest version.

The expected objects are what kube-apiserver 1.36.3 answered for the same values.
"""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.builtin_upgrade import BuiltinUpgrade, definitions_by_kind
from sampan.registry.catalogue import builtin_definitions
from sampan.registry.definition import ResourceDefinition
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.schema.builtin import Definitions
from sampan.storage.encoding import decode
from sampan.storage.translation import canonical
from sampan.wire import protobuf
from sampan.wire.json import DecodeError
from sampan.wire.protobuf.table import table
from tests.registry.stored import builtin_upgrade, stored

LABELS = {"a": "b"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
RBAC = "rbac.authorization.k8s.io"
FLOW = "flowcontrol.apiserver.k8s.io"
MARK = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"
ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
NODE = "kubernetes.io/hostname"
EXACT = {"deviceClassName": "dc", "allocationMode": "ExactCount", "count": 1}


@pytest.fixture(scope="module")
def upgrade() -> BuiltinUpgrade:
    return builtin_upgrade()


def read(upgrade: BuiltinUpgrade, api_version: str, kind: str, **parts: Any) -> Object:
    """As from the protobuf that kube-apiserver stores."""
    found: Object = decode(canonical(protobuf.encode(stored(api_version, kind, **parts)), upgrade))
    return found


@pytest.mark.parametrize("api_version", ["networking.k8s.io/v1beta1", "extensions/v1beta1"])
def test_an_ingress_keeps_its_backends(upgrade: BuiltinUpgrade, api_version: str) -> None:
    paths = [
        {"path": "/", "backend": {"serviceName": "t", "servicePort": "http"}},
        {"backend": {"resource": {"kind": "K", "name": "n"}}},
    ]
    spec = {"backend": {"serviceName": "s", "servicePort": 80}, "rules": [{"host": "h", "http": {"paths": paths}}]}
    found = read(upgrade, api_version, "Ingress", spec=spec)
    assert found["apiVersion"] == "networking.k8s.io/v1"
    assert found["spec"]["defaultBackend"] == {"service": {"name": "s", "port": {"number": 80}}}
    first, second = found["spec"]["rules"][0]["http"]["paths"]
    assert first["backend"] == {"service": {"name": "t", "port": {"name": "http"}}}
    assert first["pathType"] == second["pathType"] == "ImplementationSpecific"
    assert "service" not in second["backend"]


def test_a_network_policy_of_extensions_is_one_of_networking(upgrade: BuiltinUpgrade) -> None:
    found = read(upgrade, "extensions/v1beta1", "NetworkPolicy", spec={"podSelector": {}, "egress": [{}]})
    assert (found["apiVersion"], found["spec"]["policyTypes"]) == ("networking.k8s.io/v1", ["Ingress", "Egress"])


@pytest.mark.parametrize(
    ("node", "topology", "expected"),
    [
        ("n", {"kubernetes.io/hostname": "n"}, {"nodeName": "n"}),
        (
            "n",
            {"kubernetes.io/hostname": "m"},
            {"nodeName": "n", "deprecatedTopology": {"kubernetes.io/hostname": "m"}},
        ),
        (None, {"topology.kubernetes.io/zone": "z", "x": "y"}, {"zone": "z", "deprecatedTopology": {"x": "y"}}),
    ],
    ids=["node", "another-name", "zone"],
)
def test_an_endpoint_keeps_where_it_is(
    upgrade: BuiltinUpgrade, node: str | None, topology: dict[str, str], expected: Object
) -> None:
    endpoint = {"addresses": ["10.0.0.1"], "topology": topology, **({"nodeName": node} if node else {})}
    found = read(upgrade, "discovery.k8s.io/v1beta1", "EndpointSlice", addressType="IPv4", endpoints=[endpoint])
    assert found["endpoints"] == [{"addresses": ["10.0.0.1"], "conditions": {}, **expected}]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, {"matchExpressions": [{"key": MARK, "operator": "Exists"}]}),
        ({"matchExpressions": [{"key": MARK, "operator": "DoesNotExist"}]}, {}),
        ({"matchLabels": LABELS}, {"matchLabels": LABELS}),
        (None, None),
    ],
    ids=["nothing", "everything", "some", "none"],
)
def test_a_disruption_budget_selects_what_it_selected(
    upgrade: BuiltinUpgrade, selector: Object | None, expected: Object | None
) -> None:
    spec = {"minAvailable": 1} if selector is None else {"minAvailable": 1, "selector": selector}
    assert read(upgrade, "policy/v1beta1", "PodDisruptionBudget", spec=spec)["spec"].get("selector") == expected


@pytest.mark.parametrize(
    ("version", "limited", "annotations", "shares"),
    [
        ("v1beta1", {"assuredConcurrencyShares": 17}, {}, 17),
        ("v1beta2", {}, {}, 30),
        ("v1beta3", {"nominalConcurrencyShares": 17}, {}, 17),
        ("v1beta3", {}, {}, 30),
        ("v1beta3", {}, {ZERO: ""}, 0),
    ],
)
def test_a_priority_level_keeps_its_shares(
    upgrade: BuiltinUpgrade, version: str, limited: Object, annotations: dict[str, str], shares: int
) -> None:
    level = stored(f"{FLOW}/{version}", "PriorityLevelConfiguration", spec={"type": "Limited", "limited": limited})
    level["metadata"]["annotations"] = annotations
    found = decode(canonical(protobuf.encode(level), upgrade))
    assert found["spec"]["limited"]["nominalConcurrencyShares"] == shares
    assert "annotations" not in found["metadata"]


def test_an_exempt_priority_level_gets_no_limits(upgrade: BuiltinUpgrade) -> None:
    found = read(upgrade, f"{FLOW}/v1beta2", "PriorityLevelConfiguration", spec={"type": "Exempt"})
    assert "limited" not in found["spec"]


def test_a_runtime_class_had_a_spec(upgrade: BuiltinUpgrade) -> None:
    spec = {"runtimeHandler": "h", "overhead": {"podFixed": {"cpu": "1"}}}
    found = read(upgrade, "node.k8s.io/v1alpha1", "RuntimeClass", spec=spec)
    assert (found["handler"], found["overhead"], "spec" in found) == ("h", {"podFixed": {"cpu": "1"}}, False)


def test_subjects_of_a_binding_are_in_groups(upgrade: BuiltinUpgrade) -> None:
    subjects = [
        {"kind": "User", "name": "*"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n", "apiVersion": "v1"},
        {"kind": "Other", "name": "o", "apiVersion": "x.y/v1"},
    ]
    found = read(upgrade, f"{RBAC}/v1alpha1", "RoleBinding", subjects=subjects, roleRef={"kind": "Role", "name": "r"})
    assert found["subjects"] == [
        {"kind": "Group", "name": "system:authenticated", "apiGroup": RBAC},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
        {"kind": "Other", "name": "o", "apiGroup": "x.y"},
    ]


@pytest.mark.parametrize(
    ("api_version", "revisions", "unavailable"),
    [("apps/v1beta1", 2, "25%"), ("extensions/v1beta1", 2**31 - 1, 1), ("apps/v1beta2", 10, "25%")],
)
def test_a_deployment_keeps_what_it_was_by_default(
    upgrade: BuiltinUpgrade, api_version: str, revisions: int, unavailable: str | int
) -> None:
    spec = {"template": TEMPLATE, "selector": {"matchLabels": LABELS}}
    found = read(upgrade, api_version, "Deployment", spec=spec)
    assert (found["apiVersion"], found["spec"]["revisionHistoryLimit"]) == ("apps/v1", revisions)
    assert found["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == unavailable


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("apps/v1beta1", "Deployment"),
        ("apps/v1beta1", "StatefulSet"),
        ("extensions/v1beta1", "ReplicaSet"),
        ("extensions/v1beta1", "DaemonSet"),
    ],
)
def test_a_selector_that_was_not_given_is_the_labels(upgrade: BuiltinUpgrade, api_version: str, kind: str) -> None:
    found = read(upgrade, api_version, kind, spec={"template": TEMPLATE})
    assert (found["spec"]["selector"], found["metadata"]["labels"]) == ({"matchLabels": LABELS}, LABELS)


@pytest.mark.parametrize(
    ("api_version", "kind"), [("apps/v1beta1", "StatefulSet"), ("extensions/v1beta1", "DaemonSet")]
)
def test_pods_of_a_set_are_not_replaced_all_of_a_sudden(upgrade: BuiltinUpgrade, api_version: str, kind: str) -> None:
    found = read(upgrade, api_version, kind, spec={"template": TEMPLATE})
    assert found["spec"]["updateStrategy"] == {"type": "OnDelete"}


def test_a_rollback_is_an_annotation(upgrade: BuiltinUpgrade) -> None:
    spec = {"template": TEMPLATE, "rollbackTo": {"revision": 3}}
    found = read(upgrade, "extensions/v1beta1", "Deployment", spec=spec)
    assert found["metadata"]["annotations"] == {"deprecated.deployment.rollback.to": "3"}


def test_a_webhook_that_fails_is_still_passed_over(upgrade: BuiltinUpgrade) -> None:
    webhooks = [{"name": "a.b.c", "clientConfig": {"url": "https://x"}}]
    found = read(upgrade, "admissionregistration.k8s.io/v1beta1", "ValidatingWebhookConfiguration", webhooks=webhooks)[
        "webhooks"
    ][0]
    assert (found["failurePolicy"], found["matchPolicy"], found["timeoutSeconds"]) == ("Ignore", "Exact", 30)


def test_a_signing_request_without_a_signer_has_the_old_one(upgrade: BuiltinUpgrade) -> None:
    conditions = [{"type": "Approved"}]
    found = read(
        upgrade,
        "certificates.k8s.io/v1beta1",
        "CertificateSigningRequest",
        spec={"request": "eA=="},
        status={"conditions": conditions},
    )
    assert found["spec"]["signerName"] == "kubernetes.io/legacy-unknown"
    assert found["status"]["conditions"][0]["status"] == "True"


def test_a_claim_keeps_its_requests(upgrade: BuiltinUpgrade) -> None:
    requests = [{"name": "r", **EXACT}, {"name": "z", "firstAvailable": [{"name": "s", "deviceClassName": "dc"}]}]
    spec = {"devices": {"requests": requests}}
    claim = read(upgrade, "resource.k8s.io/v1beta1", "ResourceClaim", spec=spec)["spec"]
    template = read(upgrade, "resource.k8s.io/v1beta1", "ResourceClaimTemplate", spec={"spec": spec})["spec"]["spec"]
    assert claim == template
    assert claim["devices"]["requests"][0] == {"name": "r", "exactly": EXACT}
    assert "exactly" not in claim["devices"]["requests"][1]


def test_a_device_keeps_its_attributes(upgrade: BuiltinUpgrade) -> None:
    basic = {"attributes": {"a": {"string": "x"}}, "capacity": {"m": {"value": "1Gi"}}}
    spec = {"driver": "d", "pool": {"name": "p"}, "nodeName": "n", "devices": [{"name": "d0", "basic": basic}]}
    found = read(upgrade, "resource.k8s.io/v1beta1", "ResourceSlice", spec=spec)
    assert found["spec"]["devices"] == [{"name": "d0", **basic}]


def test_an_event_of_the_older_group_version_is_one_of_the_core(upgrade: BuiltinUpgrade) -> None:
    found = read(upgrade, "events.k8s.io/v1beta1", "Event", regarding={"kind": "Pod"}, note="n", deprecatedCount=3)
    assert (found["apiVersion"], found["message"], found["count"]) == ("v1", "n", 3)


@pytest.mark.parametrize(
    ("spec", "ips", "families", "policy"),
    [
        ({"clusterIP": "10.0.0.7"}, ["10.0.0.7"], ["IPv4"], "SingleStack"),
        ({"clusterIP": "fd00::7", "type": "NodePort"}, ["fd00::7"], ["IPv6"], "SingleStack"),
        ({"clusterIP": "None", "selector": LABELS}, ["None"], ["IPv4"], "SingleStack"),
        ({"clusterIP": "None"}, ["None"], ["IPv4", "IPv6"], "RequireDualStack"),
        ({"type": "ExternalName", "externalName": "x", "internalTrafficPolicy": "Cluster"}, None, None, None),
    ],
    ids=["IPv4", "IPv6", "headless", "headless-without-selector", "external"],
)
def test_a_service_with_one_address_has_families(
    upgrade: BuiltinUpgrade, spec: Object, ips: list[str] | None, families: list[str] | None, policy: str | None
) -> None:
    found = read(upgrade, "v1", "Service", spec=spec)["spec"]
    assert (found.get("clusterIPs"), found.get("ipFamilies"), found.get("ipFamilyPolicy")) == (ips, families, policy)
    assert ("internalTrafficPolicy" in found) == (spec.get("type") != "ExternalName")


@pytest.mark.parametrize(
    ("selector", "families"), [(LABELS, ["IPv6"]), ({}, ["IPv6", "IPv4"])], ids=["with selector", "without"]
)
def test_a_service_without_an_address_is_of_the_clusters_family(selector: Object, families: list[str]) -> None:
    upgrade = builtin_upgrade(primary_family="IPv6")
    spec = read(upgrade, "v1", "Service", spec={"clusterIP": "None", "selector": selector})["spec"]
    assert spec["ipFamilies"] == families


@pytest.mark.parametrize(("given", "filled"), [("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")])
def test_a_claim_has_its_source_in_both_fields(upgrade: BuiltinUpgrade, given: str, filled: str) -> None:
    source = {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}
    assert read(upgrade, "v1", "PersistentVolumeClaim", spec={given: source})["spec"][filled] == source


def test_an_unknown_version_raises(upgrade: BuiltinUpgrade) -> None:
    with pytest.raises(DecodeError, match='no kind "HorizontalPodAutoscaler" is registered for version'):
        upgrade(stored("autoscaling/v2beta1", "HorizontalPodAutoscaler"))


def test_an_object_that_does_not_fit_its_version_stays_unchanged(
    upgrade: BuiltinUpgrade, caplog: pytest.LogCaptureFixture
) -> None:
    found = upgrade(stored("networking.k8s.io/v1beta1", "Ingress", spec="none"))
    assert found["spec"] == "none"
    assert "cannot upgrade a stored" in caplog.text


def form_of(message: str, observed: dict[str, object]) -> dict[str, object]:
    """The fields of a message and of all that it consists of; messages without the package they are of."""
    name = short(message)
    if name not in observed and message in table():
        fields = table().fields(message)
        observed[name] = {(field.name, short(field.type), field.shape) for field in fields}
        for field in fields:
            form_of(field.type, observed)
    return observed


def short(message: str) -> str:
    return message.rpartition(".")[2]


def changed_kinds() -> list[tuple[str, str]]:
    """The built-in kinds with another form, and no function, in a version of protobuf's table that is not stored."""
    definitions = definitions_by_kind(definitions_of())
    found = []
    for api_version, package in table().api_versions().items():
        for message in table().names():
            kind = message.removeprefix(f"{package}.")
            now = definitions.get((api_version.rpartition("/")[0], kind))
            if message != f"{package}.{kind}" or now is None or now.storage_api_version == api_version:
                continue
            hub = table().message_of(now.storage_api_version, kind)
            assert hub is not None
            if form_of(message, {}) != form_of(hub, {}):
                known = now.versions.get(api_version.rpartition("/")[2])
                if (known is None or known.conversion is None) and api_version not in now.old_versions:
                    found.append((api_version, kind))
    return found


def definitions_of() -> list[ResourceDefinition]:
    return [d for d in builtin_definitions(Definitions(), BUILTIN_KINDS) if "list" in d.verbs]


def test_every_version_with_another_form_has_a_change() -> None:
    assert changed_kinds() == []


def test_kinds_of_extensions_are_read_in_the_groups_of_today() -> None:
    moved = {
        kind: each.group for (group, kind), each in definitions_by_kind(definitions_of()).items() if group != each.group
    }
    assert moved == {
        "Deployment": "apps",
        "DaemonSet": "apps",
        "ReplicaSet": "apps",
        "Ingress": "networking.k8s.io",
        "NetworkPolicy": "networking.k8s.io",
    }

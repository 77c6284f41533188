"""The chart of an operator with the real helm: what it renders is what the manifests have, and customisation stays."""

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sampan.project.bundle.helm.chart import chart_files
from sampan.project.bundle.objects import OperatorObjects
from tests.e2e.helm_program import Helm, helm_program
from tests.project.charts.projects import NAMESPACE, edit, make_boats, objects_of, sampan, write_files

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

Object = dict[str, Any]
KEEP = "helm.sh/resource-policy"
FLAGS = ("--leader-election-id=", "--webhook-configurations=", "--webhook-conversions=", "--namespaces=")


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    folder = tmp_path_factory.mktemp("helm")
    return Helm(helm_program(), {"PATH": os.environ["PATH"], "HOME": str(folder)})


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_boats(tmp_path_factory.mktemp("boats"))


def chart_of(found: OperatorObjects, folder: Path) -> Path:
    return write_files(folder, chart_files(found))


@pytest.fixture(scope="module")
def chart(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chart_of(objects_of(project), tmp_path_factory.mktemp("chart"))


def by_name(objects: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Object]:
    """Return objects by kind, namespace and name, without what only Helm needs, and without the namespace itself."""
    found = {}
    for each in objects:
        metadata = dict(each["metadata"])
        annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if key != KEEP}
        if annotations:
            metadata["annotations"] = annotations
        if each["kind"] != "Namespace":
            key = (each["kind"], metadata.get("namespace", ""), metadata["name"])
            assert key not in found
            found[key] = {**each, "metadata": metadata}
    return found


def the(objects: Iterable[Object], kind: str) -> Object:
    (found,) = (each for each in objects if each["kind"] == kind)
    return found


VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "one replica": {"replicas": 1},
    "cert-manager": {"webhook_certificates": "cert-manager"},
    "ServiceMonitor, no NetworkPolicy": {"service_monitor": True, "network_policy": False},
    "two namespaces": {"watch_namespaces": ["harbour", "ocean"]},
    "its own flags, no variables": {"args": ["--log-level=debug"], "env": {}},
    "another namespace": {"namespace": "boats"},
}


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_the_chart_has_the_objects_of_the_manifests(
    changes: dict[str, Any], project: Path, helm: Helm, tmp_path: Path
) -> None:
    found = objects_of(project, **changes)
    chart = chart_of(found, tmp_path)
    assert "0 chart(s) failed" in helm("lint", "--strict", str(chart))
    rendered = helm.template(chart, release="boats", namespace=found.settings.namespace)
    assert by_name(rendered) == by_name(found.objects)


def replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in texts.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, dict):
        return {key: replaced(each, texts) for key, each in value.items()}
    return [replaced(each, texts) for each in value] if isinstance(value, list) else value


def test_every_reference_follows_the_release(chart: Path, project: Path, helm: Helm) -> None:
    rendered = helm.template(chart, release="fleet", namespace="ocean")
    texts = {"fleet-boats": "boats", "ocean": NAMESPACE}
    back = [replaced(each, texts) for each in rendered]
    deployment = the(back, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    container["args"] = [each for each in container["args"] if not each.startswith(FLAGS)]
    expected = json.loads(json.dumps(list(objects_of(project).objects)).replace(
        '"app.kubernetes.io/instance": "boats"', '"app.kubernetes.io/instance": "fleet"'
    ))  # fmt: skip
    assert by_name(back) == by_name(expected)


SCOPED = ("--set", "rbac.scope=namespaced")


@pytest.mark.parametrize(
    ("first", "second"),
    [(("boats", "a"), ("boats", "b")), (("boats", "a"), ("fleet", "a")), (("fleet", "a"), ("armada", "b"))],
    ids=["one name in two namespaces", "two names in one namespace", "two names in two namespaces"],
)
def test_releases_of_one_cluster_share_no_object(
    first: tuple[str, str], second: tuple[str, str], chart: Path, helm: Helm
) -> None:
    releases = [
        by_name(helm.template(chart, *SCOPED, *more, release=name, namespace=namespace))
        for (name, namespace), more in ((first, ()), (second, ("--set", "crds.enabled=false")))
    ]
    assert not releases[0].keys() & releases[1].keys()
    flags = [set(arguments(each.values())) for each in releases]
    assert "--webhook-conversions=false" not in flags[0]
    assert "--webhook-conversions=false" in flags[1]


def test_releases_of_one_namespace_have_their_leases_and_select_their_pods(chart: Path, helm: Helm) -> None:
    releases = [helm.template(chart, release=name, namespace="a") for name in ("fleet", "armada")]
    leases = [
        each.partition("=")[2] for objects in releases for each in arguments(objects) if "--leader-election-id=" in each
    ]
    assert leases == ["fleet-boats", "armada-boats"]
    for objects, other in (releases, releases[::-1]):
        selectors = [each["spec"]["selector"] for each in objects if each["kind"] == "Service"]
        labels = the(other, "Deployment")["spec"]["template"]["metadata"]["labels"]
        assert len(selectors) == 2
        assert all(not each.items() <= labels.items() for each in selectors)


def arguments(objects: Iterable[Object]) -> list[str]:
    found: list[str] = the(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["args"]
    return found


VALUES: dict[str, Any] = {
    "commonLabels": {"team": "sea"},
    "commonAnnotations": {"example.com/owner": "ann"},
    "podLabels": {"tier": "front"},
    "podAnnotations": {"example.com/by": "me"},
    "args": ["--log-level=debug"],
    "env": [{"name": "MODE", "value": "off"}, {"name": "CREW", "value": "2"}],
    "envFrom": [{"configMapRef": {"name": "mine"}}],
    "volumes": [{"name": "maps", "emptyDir": {}}],
    "volumeMounts": [{"name": "maps", "mountPath": "/maps"}],
    "serviceAccount": {"create": False, "name": "skipper"},
    "image": {"repository": "mirror.example.com/boats", "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "mirror"}],
    "replicas": 5,
    "resources": {"limits": {"memory": "1Gi"}},
    "nodeSelector": {"disk": "fast"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "topologySpreadConstraints": [],
    "priorityClassName": "high",
    "podSecurityContext": {"runAsUser": 7},
    "podDisruptionBudget": {"minAvailable": "50%"},
    "metrics": {
        "serviceMonitor": {"enabled": True, "interval": "7s", "labels": {"release": "prom"}},
        "rules": {"enabled": True, "labels": {"release": "prom"}},
        "dashboard": {"enabled": True},
    },
}


def check_values(objects: list[Object]) -> None:
    """Assert that objects are as a user has set them."""
    assert all(each["metadata"]["labels"]["team"] == "sea" for each in objects)
    assert all(each["metadata"]["annotations"]["example.com/owner"] == "ann" for each in objects)
    deployment = the(objects, "Deployment")
    template = deployment["spec"]["template"]
    pod = template["spec"]
    (container,) = pod["containers"]
    assert template["metadata"]["labels"]["tier"] == "front"
    assert template["metadata"]["annotations"]["example.com/by"] == "me"
    assert container["args"][-1] == "--log-level=debug"
    assert container["env"] == [{"name": "HARBOUR", "value": "123"}, *VALUES["env"]]
    assert container["envFrom"] == VALUES["envFrom"]
    assert (pod["volumes"], container["volumeMounts"]) == (VALUES["volumes"], VALUES["volumeMounts"])
    assert pod["serviceAccountName"] == "skipper"
    assert not [each for each in objects if each["kind"] == "ServiceAccount"]
    bindings = [each for each in objects if each["kind"].endswith("Binding")]
    assert {each["name"] for one in bindings for each in one["subjects"]} == {"skipper"}
    assert container["image"].startswith("mirror.example.com/boats:")
    assert container["imagePullPolicy"] == "Always"
    assert deployment["spec"]["replicas"] == 5
    assert container["resources"]["limits"] == {"memory": "1Gi"}
    for field in ("imagePullSecrets", "nodeSelector", "tolerations", "affinity", "priorityClassName"):
        assert pod[field] == VALUES[field]
    assert "topologySpreadConstraints" not in pod
    assert pod["securityContext"]["runAsUser"] == 7
    budget = the(objects, "PodDisruptionBudget")["spec"]
    assert (budget["minAvailable"], "maxUnavailable" in budget) == ("50%", False)
    monitor, rules = the(objects, "ServiceMonitor"), the(objects, "PrometheusRule")
    assert monitor["metadata"]["labels"]["release"] == rules["metadata"]["labels"]["release"] == "prom"
    assert [each["interval"] for each in monitor["spec"]["endpoints"]] == ["7s"]
    expressions = [each["expr"] for group in rules["spec"]["groups"] for each in group["rules"]]
    assert all('{job="fleet-boats-metrics",namespace="ocean"' in each for each in expressions)
    board = json.loads(the(objects, "ConfigMap")["data"]["boats.json"])
    assert board["templating"]["list"][1]["current"]["value"] == "fleet-boats-metrics"


def test_customisation_survives_changed_code_and_new_templates(helm: Helm, tmp_path: Path) -> None:
    project = make_boats(tmp_path)
    place = project / "pyproject.toml"
    patch = '[[tool.sampan.patches]]\nkind = "Service"\nmerge = {spec = {type = "NodePort"}}\n'
    place.write_text(f"{place.read_text()}\n{patch}")
    mine = tmp_path / "mine.yaml"
    mine.write_text(json.dumps(VALUES))
    before = chart_files(objects_of(project))
    chart = write_files(tmp_path / "chart", before)
    old = helm.template(chart, "--values", str(mine), release="fleet", namespace="ocean")
    check_values(old)

    edit(
        project,
        "src/boats/boat/v1.py",
        "class BoatSpec",
        "class Extra(msgspec.Struct):\n    a: int\n\n\nclass BoatSpec",
    )
    sampan(project, "create", "api", "--kind", "Sail", "--field", "area:int")
    edit(project, "pyproject.toml", 'version = "0.1.0"', 'version = "0.2.0"')
    after = chart_files(objects_of(project, image="registry.example.com:5000/team/boats:0.2.0"))
    write_files(tmp_path / "chart", after)
    new = helm.template(chart, "--values", str(mine), release="fleet", namespace="ocean")
    check_values(new)
    assert {each["spec"]["type"] for each in new if each["kind"] == "Service"} == {"NodePort"}
    kinds = [{each["spec"]["names"]["kind"] for each in objects if "versions" in each["spec"]}
             for objects in ([o for o in old if o["kind"] == "CustomResourceDefinition"],
                             [o for o in new if o["kind"] == "CustomResourceDefinition"])]  # fmt: skip
    assert kinds == [{"Boat"}, {"Boat", "Sail"}]
    images = [the(each, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] for each in (old, new)]
    assert images == ["mirror.example.com/boats:0.1.0", "mirror.example.com/boats:0.2.0"]


def test_the_chart_fits_into_a_parent_chart(chart: Path, helm: Helm, tmp_path: Path) -> None:
    about = {
        "apiVersion": "v2", "name": "harbour", "version": "1.0.0",
        "dependencies": [{"name": "boats", "version": "0.1.0", "condition": "boats.enabled"}],
    }  # fmt: skip
    values = {"boats": {"enabled": True, "replicas": 3, "fullnameOverride": "ships"}, "global": {"team": "sea"}}
    parent = write_files(tmp_path, {"Chart.yaml": json.dumps(about), "values.yaml": json.dumps(values)})
    shutil.copytree(chart, parent / "charts/boats")
    deployment = the(helm.template(parent, release="fleet", namespace="ocean"), "Deployment")
    assert (deployment["metadata"]["name"], deployment["spec"]["replicas"]) == ("ships", 3)
    assert not helm.template(parent, "--set", "boats.enabled=false", release="fleet", namespace="ocean")


@pytest.mark.parametrize(
    ("setting", "fault"),
    [
        ("replicaCount=2", "additional properties 'replicaCount' not allowed"),
        ("image.tags=1", "at '/image': additional properties 'tags' not allowed"),
        ("replicas=two", "at '/replicas': got string, want integer"),
        ("rbac.scope=namespace", "at '/rbac/scope': value must be one of 'cluster', 'namespaced'"),
        ("image.digest=abc", "at '/image/digest': 'abc' does not match pattern"),
        ("image.repository=", "at '/image/repository': minLength"),
        ("commonLabels.a=1", "at '/commonLabels/a': got number, want string"),
        ("env[0].value=a", "at '/env/0': missing property 'name'"),
        ("env[0].name=A,env[0].value=1", "at '/env/0/value': got number, want string"),
        ("env[0].name=A,env[0].vale=a", "at '/env/0': additional properties 'vale' not allowed"),
        ("volumeMounts[0].name=a", "at '/volumeMounts/0': missing property 'mountPath'"),
        ("metrics.serviceMonitor.interval=soon", "does not match pattern"),
        ("rbac.watchNamespaces[0]=A", "does not match pattern"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(setting: str, fault: str, chart: Path, helm: Helm) -> None:
    assert fault in helm.fails("template", "fleet", str(chart), "--set", setting)


SWITCHES = {
    "serviceAccount.create=false": {"ServiceAccount"},
    "rbac.create=false": {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"},
    "crds.enabled=false": {"CustomResourceDefinition"},
    "webhooks.enabled=false": {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"},
    "networkPolicy.enabled=false": {"NetworkPolicy"},
    "podDisruptionBudget.enabled=false": {"PodDisruptionBudget"},
    "replicas=1": {"PodDisruptionBudget"},
}


@pytest.mark.parametrize(("setting", "kinds"), SWITCHES.items(), ids=SWITCHES)
def test_a_part_can_be_switched_off(setting: str, kinds: set[str], chart: Path, helm: Helm) -> None:
    whole, part = (
        {each["kind"] for each in helm.template(chart, *more, release="boats", namespace=NAMESPACE)}
        for more in ((), ("--set", setting))
    )
    assert whole - part == kinds


def test_without_metrics_nothing_of_them_remains(chart: Path, helm: Helm) -> None:
    settings = "metrics.enabled=false,metrics.rules.enabled=true,metrics.dashboard.enabled=true"
    objects = helm.template(chart, "--set", settings, release="boats", namespace=NAMESPACE)
    assert [each["metadata"]["name"] for each in objects if each["kind"] == "Service"] == ["boats-webhook"]
    assert "--metrics-bind-address=0" in arguments(objects)
    assert not [each for each in objects if each["kind"] in {"ConfigMap", "PrometheusRule", "ServiceMonitor"}]


def test_a_long_name_of_a_release_gives_valid_names(chart: Path, helm: Helm) -> None:
    objects = helm.template(chart, release="a" * 53, namespace=NAMESPACE)
    names = [each["metadata"]["name"] for each in objects if each["kind"] != "CustomResourceDefinition"]
    assert max(map(len, names)) <= 63

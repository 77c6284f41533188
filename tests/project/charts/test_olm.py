"""Bundle for OLM: rights, webhooks and namespaces as OLM manages them, and what catalogues show."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sampan.project.bundle.olm.bundle import olm_files, olm_warnings
from sampan.project.bundle.olm.descriptors import DESCRIPTORS_MAX, descriptors, title_of
from sampan.project.errors import ProjectError
from tests.project.charts.projects import IMAGE, edit, make_boats, make_simple_boats, objects_of

CSV = "manifests/boats.clusterserviceversion.yaml"


@pytest.fixture(scope="module")
def webhooked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_boats(tmp_path_factory.mktemp("boats"))


@pytest.fixture
def simple(tmp_path: Path) -> Path:
    return make_simple_boats(tmp_path)


def csv_of(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(olm_files(objects_of(project))[CSV])
    return found


def strategy_of(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = csv_of(project)["spec"]["install"]["spec"]
    return found


def resources(permissions: list[dict[str, Any]]) -> set[str]:
    return {each for one in permissions for rule in one["rules"] for each in rule.get("resources", ())}


def test_rights_in_namespaces_are_apart_from_those_in_the_cluster(webhooked: Path) -> None:
    strategy = strategy_of(webhooked)
    assert resources(strategy["permissions"]) == {"boats", "boats/status", "events", "leases"}
    assert resources(strategy["clusterPermissions"]) == {"tokenreviews", "subjectaccessreviews"}


def test_olm_owns_certificates_configurations_and_namespaces(webhooked: Path) -> None:
    (deployment,) = strategy_of(webhooked)["deployments"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    flags = {each.partition("=")[0]: each.partition("=")[2] for each in container["args"]}
    assert flags["--webhook-cert-path"] == "/tmp/k8s-webhook-server/serving-certs"
    assert (flags["--webhook-configurations"], flags["--webhook-conversions"]) == ("0", "false")
    assert "--webhook-service" not in flags
    names = {each["name"]: each.get("valueFrom") for each in container["env"]}
    assert names["SAMPAN_NAMESPACES"] == {"fieldRef": {"fieldPath": "metadata.annotations['olm.targetNamespaces']"}}


def test_objects_that_olm_makes_are_no_manifests(webhooked: Path) -> None:
    files = olm_files(objects_of(webhooked))
    kinds = [yaml.safe_load(text)["kind"] for path, text in files.items() if path.startswith("manifests/")]
    assert sorted(set(kinds)) == [
        "ClusterRole", "ClusterServiceVersion", "CustomResourceDefinition", "PodDisruptionBudget", "Service",
    ]  # fmt: skip
    assert kinds.count("Service") == 1
    crd = yaml.safe_load(files["manifests/boats.boats.example.com.crd.yaml"])
    assert "conversion" not in crd["spec"]


def test_webhooks_are_defined_with_their_rules(webhooked: Path) -> None:
    defined = csv_of(webhooked)["spec"]["webhookdefinitions"]
    assert [each["type"] for each in defined] == [
        "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook", "ConversionWebhook",
    ]  # fmt: skip
    assert all((each["containerPort"], each["targetPort"]) == (443, 9443) for each in defined)
    assert defined[1]["rules"][0]["resources"] == ["boats"]
    assert defined[2]["conversionCRDs"] == ["boats.boats.example.com"]


def test_conversions_need_all_namespaces(webhooked: Path, simple: Path) -> None:
    modes = [
        {each["type"] for each in csv_of(project)["spec"]["installModes"] if each["supported"]}
        for project in (webhooked, simple)
    ]
    assert modes == [{"AllNamespaces"}, {"AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"}]


def test_catalogues_show_what_the_project_has(simple: Path) -> None:
    edit(
        simple,
        "pyproject.toml",
        'readme = "README.md"',
        'readme = "README.md"\nauthors = [{name = "Ann", email = "ann@example.com"}]\nkeywords = ["sea"]',
    )
    icon = simple / "boat.png"
    icon.write_bytes(b"picture")
    place = simple / "pyproject.toml"
    settings = '\n[tool.sampan.olm]\nicon = "boat.png"\nchannels = ["stable", "fast"]\nreplaces = "boats.v0.0.9"\n'
    place.write_text(place.read_text() + settings)
    csv = csv_of(simple)
    spec = csv["spec"]
    assert csv["metadata"]["name"] == "boats.v0.1.0"
    assert csv["metadata"]["annotations"]["containerImage"] == IMAGE
    assert csv["metadata"]["annotations"]["description"] == "A Kubernetes operator"
    (example,) = json.loads(csv["metadata"]["annotations"]["alm-examples"])
    assert example["kind"] == "Boat"
    assert (spec["maturity"], spec["replaces"], spec["keywords"]) == ("alpha", "boats.v0.0.9", ["sea"])
    assert spec["maintainers"] == [{"name": "Ann", "email": "ann@example.com"}]
    assert spec["icon"] == [{"base64data": "cGljdHVyZQ==", "mediatype": "image/png"}]
    (owned,) = spec["customresourcedefinitions"]["owned"]
    (length,) = owned["specDescriptors"]
    assert (length["path"], length["displayName"]) == ("length", "Length")
    assert length["description"] == "Length of the boat."
    labels = yaml.safe_load(olm_files(objects_of(simple))["metadata/annotations.yaml"])["annotations"]
    assert labels["operators.operatorframework.io.bundle.channels.v1"] == "stable,fast"
    assert labels["operators.operatorframework.io.bundle.channel.default.v1"] == "stable"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ('icons = "a.png"', "unknown tool.sampan.olm.icons"),
        ('icon = "a.txt"', "tool.sampan.olm.icon must be one of"),
        ('icon = "absent.png"', "cannot read"),
        ("channels = []", "tool.sampan.olm.channels must be a list of names"),
        ('default-channel = "x"', "is none of the channels"),
        ('capabilities = "All"', "must be one of Basic Install"),
        ("provider = 1", "tool.sampan.olm.provider must be a text"),
    ],
)
def test_a_wrong_setting_is_named(setting: str, message: str, simple: Path) -> None:
    place = simple / "pyproject.toml"
    place.write_text(f"{place.read_text()}\n[tool.sampan.olm]\n{setting}\n")
    with pytest.raises(ProjectError, match=message):
        olm_files(objects_of(simple))


def test_what_olm_does_differently_is_reported(webhooked: Path, simple: Path) -> None:
    found = objects_of(webhooked)
    warnings = olm_warnings(found)
    assert any("OLM v1 installs webhooks only if" in each for each in warnings)
    assert "there is no example of the kind Boat of boats.example.com/v1: add one to samples/" in warnings
    assert olm_warnings(objects_of(simple, network_policy=False)) == []


def test_a_schema_has_a_bounded_number_of_descriptors() -> None:
    field = {"type": "string"}
    many = {"properties": {"spec": {"type": "object", "properties": {f"f{index}": field for index in range(1000)}}}}
    assert len(descriptors(many, "spec")) == DESCRIPTORS_MAX
    deep: dict[str, Any] = field
    for _ in range(500):
        deep = {"type": "object", "properties": {"a": deep}}
    assert len(descriptors({"properties": {"spec": deep}}, "spec")) == 1


@pytest.mark.parametrize(
    ("name", "title"),
    [("maxLoad", "Max load"), ("ipAddress", "Ip address"), ("podCIDR", "Pod CIDR"), ("a", "A"), ("ä", "Ä")],
)
def test_names_become_titles(name: str, title: str) -> None:
    assert title_of(name) == title

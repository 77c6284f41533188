"""CustomResourceDefinitions as kubectl meets them: columns, short names, scale, status, schemas and their errors."""

from collections.abc import Iterator

import pytest

from tests.cli.server import Server
from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl

pytestmark = pytest.mark.e2e

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.{group}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: {plural}, singular: gadget, kind: Gadget, shortNames: [{short}], categories: [{category}]}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {{}}
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
        labelSelectorPath: .status.selector
    additionalPrinterColumns:
    - {{name: Colour, type: string, jsonPath: .spec.colour, description: What one sees}}
    - {{name: Replicas, type: integer, jsonPath: .spec.replicas}}
    - {{name: Note, type: string, jsonPath: .spec.note, priority: 1}}
    - {{name: Age, type: date, jsonPath: .metadata.creationTimestamp}}
    selectableFields:
    - jsonPath: .spec.colour
    schema:
      openAPIV3Schema:
        type: object
        description: A gadget is a thing.
        required: [spec]
        properties:
          spec:
            type: object
            description: What is wanted.
            required: [colour]
            x-kubernetes-validations:
            - rule: "self.replicas <= self.limit"
              message: "replicas must not be more than limit"
            properties:
              colour: {{type: string, enum: [red, blue], description: Its colour.}}
              replicas: {{type: integer, minimum: 0, default: 1}}
              limit: {{type: integer, default: 10}}
              note: {{type: string, maxLength: 5}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {{type: string}}
                    port: {{type: integer}}
          status:
            type: object
            properties:
              replicas: {{type: integer}}
              selector: {{type: string}}
              conditions:
                type: array
                items:
                  type: object
                  properties:
                    type: {{type: string}}
                    status: {{type: string}}
"""

GADGET = """
apiVersion: {group}/v1
kind: Gadget
metadata:
  name: one
spec:
  colour: red
  note: good
"""


class Gadgets:
    """A CRD of a separate group, and kubectl in a namespace."""

    def __init__(self, kubectl: Kubectl, number: int) -> None:
        self.kubectl = kubectl
        self.group = f"e2e{number}.example.com"
        self.plural = f"gadgets{number}"
        self.type = f"{self.plural}.{self.group}"
        self.short = f"gd{number}"
        self.category = f"things{number}"
        self.crd = CRD.format(group=self.group, plural=self.plural, short=self.short, category=self.category)
        self.gadget = GADGET.format(group=self.group)


@pytest.fixture
def gadgets(api: Api, kubectl: Kubectl, numbers: Iterator[int]) -> Iterator[Gadgets]:
    """A CRD that is established, for one test."""
    made = Gadgets(kubectl, next(numbers))
    kubectl.apply(made.crd)
    yield made
    api.request("DELETE", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{made.type}")


def test_a_crd_is_established_and_described(gadgets: Gadgets) -> None:
    kubectl = gadgets.kubectl
    done = kubectl("wait", "crd", gadgets.type, "--for=condition=Established", "--timeout=60s")
    assert done.endswith("condition met")
    header, row = kubectl("get", "crd", gadgets.type).splitlines()
    assert header.split() == ["NAME", "CREATED", "AT"]
    assert row.split()[0] == gadgets.type
    text = kubectl("describe", "crd", gadgets.type)
    assert "Kind:                   CustomResourceDefinition" in text or "CustomResourceDefinition" in text
    assert "InitialNamesAccepted" in text
    assert kubectl.apply(gadgets.crd).endswith(" unchanged")


def test_columns_of_the_crd_are_shown(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    header, row = gadgets.kubectl("get", gadgets.type).splitlines()
    assert header.split() == ["NAME", "COLOUR", "REPLICAS", "AGE"]
    assert row.split()[:3] == ["one", "red", "1"]
    header, row = gadgets.kubectl("get", gadgets.type, "-o", "wide").splitlines()
    assert header.split() == ["NAME", "COLOUR", "REPLICAS", "NOTE", "AGE"]
    assert row.split()[:4] == ["one", "red", "1", "good"]


def test_short_names_singular_and_categories_find_it(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    name = f"gadget.{gadgets.group}/one"
    assert gadgets.kubectl.names(gadgets.short) == [name]
    assert gadgets.kubectl.names(f"gadget.{gadgets.group}", "one") == [name]
    assert gadgets.kubectl.names(gadgets.category) == [name]
    line = gadgets.kubectl("api-resources", f"--api-group={gadgets.group}", "--no-headers")
    assert line.split() == [gadgets.plural, gadgets.short, f"{gadgets.group}/v1", "true", "Gadget"]


def test_defaults_are_set(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    spec = gadgets.kubectl.get(gadgets.type, "one")["spec"]
    assert spec == {"colour": "red", "note": "good", "replicas": 1, "limit": 10}
    assert gadgets.kubectl.apply(gadgets.gadget).endswith(" unchanged")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        pytest.param(
            "red", "green", 'spec.colour: Unsupported value: "green": supported values: "red", "blue"', id="enum"
        ),
        pytest.param("  colour: red\n", "", "spec.colour: Required value", id="required"),
        pytest.param(
            "note: good", "note: much too long", "spec.note: Too long: may not be more than 5 bytes", id="length"
        ),
        pytest.param(
            "note: good",
            "replicas: -1",
            "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0",
            id="minimum",
        ),
        pytest.param(
            "note: good",
            "replicas: many",
            'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
            id="type",
        ),
        pytest.param(
            "note: good",
            "replicas: 11",
            "replicas must not be more than limit",
            id="rule",
        ),
    ],
)
def test_faults_are_reported_as_kubernetes_states_them(gadgets: Gadgets, old: str, new: str, fault: str) -> None:
    message = gadgets.kubectl.fails("apply", "-f", "-", stdin=gadgets.gadget.replace(old, new))
    assert message.startswith('The Gadget "one" is invalid: ')
    assert fault in message


def test_unknown_fields_are_refused(gadgets: Gadgets) -> None:
    message = gadgets.kubectl.fails("apply", "-f", "-", stdin=gadgets.gadget.replace("note:", "odd: 1\n  note:"))
    assert message == (
        'Error from server (BadRequest): error when creating "STDIN": Gadget in version "v1" cannot be handled as a '
        'Gadget: strict decoding error: unknown field "spec.odd"'
    )


def test_unknown_fields_are_pruned_with_a_warning(gadgets: Gadgets) -> None:
    manifest = gadgets.gadget.replace("note:", "odd: 1\n  note:")
    done = gadgets.kubectl.run("create", "--validate=warn", "-f", "-", stdin=manifest)
    assert (done.returncode, done.stderr) == (0, 'Warning: unknown field "spec.odd"\n')
    assert "odd" not in gadgets.kubectl.get(gadgets.type, "one")["spec"]


def test_scale(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    assert gadgets.kubectl("scale", gadgets.type, "one", "--replicas=4") == f"gadget.{gadgets.group}/one scaled"
    assert gadgets.kubectl.get(gadgets.type, "one")["spec"]["replicas"] == 4
    scale = gadgets.kubectl.get(gadgets.type, "one", "--subresource=scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 4}, {"replicas": 0})
    done = gadgets.kubectl("autoscale", gadgets.type, "one", "--max=5")
    assert done == "horizontalpodautoscaler.autoscaling/one autoscaled"


def test_status_is_a_subresource(gadgets: Gadgets) -> None:
    kubectl = gadgets.kubectl
    kubectl.apply(gadgets.gadget)
    ready = '{"spec":{"colour":"blue"},"status":{"replicas":3,"conditions":[{"type":"Ready","status":"True"}]}}'
    kubectl("patch", gadgets.type, "one", "--subresource=status", "--type=merge", "-p", ready)
    found = kubectl.get(gadgets.type, "one")
    assert (found["spec"]["colour"], found["status"]["replicas"]) == ("red", 3)
    assert found["metadata"]["generation"] == 1
    assert kubectl("wait", gadgets.type, "one", "--for=condition=Ready", "--timeout=60s").endswith("condition met")


def test_patches(gadgets: Gadgets) -> None:
    kubectl = gadgets.kubectl
    kubectl.apply(gadgets.gadget)
    kubectl("patch", gadgets.type, "one", "--type=merge", "-p", '{"spec":{"note":null}}')
    kubectl("patch", gadgets.type, "one", "--type=json", "-p", '[{"op":"add","path":"/spec/replicas","value":7}]')
    found = kubectl.get(gadgets.type, "one")
    assert found["spec"] == {"colour": "red", "limit": 10, "replicas": 7}
    assert found["metadata"]["generation"] == 3
    message = kubectl.fails("patch", gadgets.type, "one", "-p", '{"spec":{"note":"x"}}')
    assert message == (
        f"error: application/strategic-merge-patch+json is not supported by {gadgets.group}/v1, Kind=Gadget: the body "
        "of the request was in an unknown format - accepted media types include: application/json-patch+json, "
        "application/merge-patch+json, application/apply-patch+yaml"
    )


def test_server_side_apply_merges_lists_by_key(gadgets: Gadgets) -> None:
    kubectl = gadgets.kubectl
    kubectl.apply(gadgets.gadget + "  ports: [{name: a, port: 1}]\n", "--server-side")
    kubectl.apply(gadgets.gadget + "  ports: [{name: b, port: 2}]\n", "--server-side", "--field-manager=other")
    ports = kubectl.get(gadgets.type, "one")["spec"]["ports"]
    assert ports == [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    conflict = gadgets.gadget + "  ports: [{name: a, port: 9}]\n"
    message = kubectl.fails("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=conflict)
    assert 'conflict with "kubectl": .spec.ports[name="a"].port' in message


def test_explain_reports_the_descriptions(gadgets: Gadgets) -> None:
    text = gadgets.kubectl("explain", gadgets.plural)
    assert f"GROUP:      {gadgets.group}" in text
    assert "A gadget is a thing." in text
    text = gadgets.kubectl("explain", f"{gadgets.plural}.spec.colour", f"--api-version={gadgets.group}/v1")
    assert "FIELD: colour <string>" in text
    assert "Its colour." in text
    assert "ports\t<[]Object>" in gadgets.kubectl("explain", gadgets.plural, "--recursive")
    assert "Its colour." in gadgets.kubectl("explain", f"{gadgets.plural}.spec.colour", "--output=plaintext-openapiv2")


def test_fields_can_be_selected(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    gadgets.kubectl.apply(gadgets.gadget.replace("one", "two").replace("red", "blue"))
    found = gadgets.kubectl.names(gadgets.type, "--field-selector=spec.colour=blue")
    assert found == [f"gadget.{gadgets.group}/two"]


def test_watch_shows_the_columns(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    with gadgets.kubectl.started("get", gadgets.type, "-w") as watch:
        assert watch.line().split() == ["NAME", "COLOUR", "REPLICAS", "AGE"]
        assert watch.line().split()[:2] == ["one", "red"]
        gadgets.kubectl.apply(gadgets.gadget.replace("red", "blue"))
        assert watch.line().split()[:2] == ["one", "blue"]


def test_describe_a_custom_resource(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    text = gadgets.kubectl("describe", gadgets.type, "one")
    assert "Kind:         Gadget" in text
    assert "Colour:    red" in text


def test_a_crd_takes_its_objects_with_it(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.gadget)
    gadgets.kubectl("delete", "crd", gadgets.type)
    assert "the server doesn't have a resource type" in gadgets.kubectl.fails("get", gadgets.type)
    gadgets.kubectl.apply(gadgets.crd)
    assert gadgets.kubectl.names(gadgets.type) == []


def test_a_schema_that_changes_is_in_force_at_once(gadgets: Gadgets) -> None:
    gadgets.kubectl.apply(gadgets.crd.replace("[red, blue]", "[red, blue, green]"))
    gadgets.kubectl.apply(gadgets.gadget.replace("red", "green"))
    assert gadgets.kubectl.get(gadgets.type, "one")["spec"]["colour"] == "green"


def test_an_invalid_crd_is_refused(kubectl: Kubectl, numbers: Iterator[int]) -> None:
    made = Gadgets(kubectl, next(numbers))
    message = kubectl.fails("apply", "-f", "-", stdin=made.crd.replace(f"name: {made.plural}.", "name: other."))
    assert message.startswith(
        f'The CustomResourceDefinition "other.{made.group}" is invalid: metadata.name: Invalid value'
    )
    message = kubectl.fails("apply", "-f", "-", stdin=made.crd.replace("type: string, enum", "type: strin, enum"))
    assert 'Unsupported value: "strin"' in message


def test_two_versions_are_both_served(kubectl: Kubectl, numbers: Iterator[int], server: Server) -> None:
    made = Gadgets(kubectl, next(numbers))
    versions = made.crd.partition("  versions:\n")[2]
    second = versions.replace("name: v1", "name: v1beta1", 1).replace("storage: true", "storage: false", 1)
    kubectl.apply(made.crd + second)
    kubectl.apply(made.gadget.replace("/v1", "/v1beta1"))
    for version in ("v1", "v1beta1"):
        assert kubectl.get(f"{made.plural}.{version}.{made.group}", "one")["apiVersion"] == f"{made.group}/{version}"
    kubectl("delete", "crd", made.type)
    assert server.get(f"/apis/{made.group}/v1", server.token)[0] == 404

"""`kubectl get`: every output format, selection, and its messages if there is nothing."""

import json

import pytest
import yaml

from tests.cli.server import Server
from tests.e2e.conftest import Api
from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP, DEPLOYMENT, POD, SERVICE, config_map, documents

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def objects(shared: Kubectl) -> Kubectl:
    """A namespace with a pod, a deployment and two config maps, which the tests read."""
    shared.apply(documents(CONFIG_MAP, POD, DEPLOYMENT, config_map("other", colour="red")))
    return shared


@pytest.fixture
def numbered(api: Api, kubectl: Kubectl) -> Kubectl:
    """A namespace with five config maps, c0 to c4."""
    for n in range(5):
        body = {"metadata": {"name": f"c{n}"}, "data": {"rank": f"{9 - n}"}}
        api.create(f"/api/v1/namespaces/{kubectl.namespace}/configmaps", body)
    return kubectl


def rows(table: str) -> list[list[str]]:
    """The cells of a table, without those that hold spaces in mind."""
    return [line.split() for line in table.splitlines()]


def test_table_has_the_printer_columns_of_the_kind(objects: Kubectl) -> None:
    header, row = rows(objects("get", "deployments"))
    assert header == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row[:4] == ["web", "0/2", "0", "0"]


def test_wide_adds_the_columns_of_lower_priority(objects: Kubectl) -> None:
    header, row = rows(objects("get", "deploy", "-o", "wide"))
    assert header[5:] == ["CONTAINERS", "IMAGES", "SELECTOR"]
    assert row[5:] == ["nginx", "nginx:1.27", "app=web"]


def test_pods_show_their_phase(objects: Kubectl) -> None:
    header, row = rows(objects("get", "po/web"))
    assert header == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert row[:4] == ["web", "0/1", "Pending", "0"]


def test_no_headers_leaves_the_rows(objects: Kubectl) -> None:
    assert [row[0] for row in rows(objects("get", "cm", "--no-headers"))] == ["other", "settings"]


def test_yaml_is_the_object(objects: Kubectl) -> None:
    document = yaml.safe_load(objects("get", "cm", "settings", "-o", "yaml"))
    assert (document["apiVersion"], document["kind"]) == ("v1", "ConfigMap")
    assert document["data"] == {"colour": "blue", "size": "large"}
    assert "managedFields" not in document["metadata"]


def test_managed_fields_are_shown_on_request(objects: Kubectl) -> None:
    document = json.loads(objects("get", "cm", "settings", "-o", "json", "--show-managed-fields"))
    (entry,) = document["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kubectl-client-side-apply", "Update")
    assert entry["fieldsV1"]["f:data"] == {".": {}, "f:colour": {}, "f:size": {}}


def test_json_of_several_objects_is_a_list(objects: Kubectl) -> None:
    document = objects.get("cm")
    assert document["kind"] == "List"
    assert [item["metadata"]["name"] for item in document["items"]] == ["other", "settings"]
    assert {item["kind"] for item in document["items"]} == {"ConfigMap"}


def test_names_of_several_types(objects: Kubectl) -> None:
    assert objects.names("pods,deployments") == ["pod/web", "deployment.apps/web"]


def test_names_from_different_types(objects: Kubectl) -> None:
    assert objects.names("pod/web", "cm/other") == ["pod/web", "configmap/other"]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param("jsonpath={.data.colour}", "blue", id="jsonpath"),
        pytest.param('go-template={{.metadata.name}}={{index .data "size"}}', "settings=large", id="go-template"),
        pytest.param("custom-columns=N:.metadata.name,C:.data.colour", "N          C\nsettings   blue", id="columns"),
        pytest.param("name", "configmap/settings", id="name"),
    ],
)
def test_templates_find_the_fields(objects: Kubectl, output: str, expected: str) -> None:
    assert objects("get", "cm", "settings", "-o", output) == expected


def test_jsonpath_over_a_list(objects: Kubectl) -> None:
    assert objects("get", "cm", "-o", "jsonpath={range .items[*]}{.data.colour};{end}") == "red;blue;"


def test_labels_select(objects: Kubectl) -> None:
    assert objects.names("cm,pods", "-l", "app=web") == ["configmap/settings", "pod/web"]
    assert objects.names("cm", "-l", "app notin (web)") == ["configmap/other"]
    assert objects.names("pods", "-l", "tier,app in (web, api)") == ["pod/web"]


def test_fields_select(objects: Kubectl) -> None:
    assert objects.names("cm", "--field-selector", "metadata.name=other") == ["configmap/other"]
    assert objects.names("pods", "--field-selector", "status.phase!=Pending,spec.nodeName=") == []


def test_unknown_field_of_a_selector_is_refused(objects: Kubectl) -> None:
    message = objects.fails("get", "cm", "--field-selector", "data.colour=red")
    assert message == (
        'Error from server (BadRequest): Unable to find "/v1, Resource=configmaps" that match label selector "", '
        'field selector "data.colour=red": "data.colour" is not a known field selector: only "metadata.name", '
        '"metadata.namespace"'
    )


def test_labels_are_shown_as_column(objects: Kubectl) -> None:
    header, row = rows(objects("get", "pod", "web", "--show-labels"))
    assert (header[-1], row[-1]) == ("LABELS", "app=web,tier=front")
    header, row = rows(objects("get", "pod", "web", "-L", "tier"))
    assert (header[-1], row[-1]) == ("TIER", "front")


def test_all_namespaces_have_a_column(objects: Kubectl) -> None:
    header, *found = rows(objects("get", "cm", "-A", "-l", "app=web"))
    assert header == ["NAMESPACE", "NAME", "DATA", "AGE"]
    assert [objects.namespace, "settings", "2"] in [row[:3] for row in found]


def test_sorting_by_a_field(numbered: Kubectl) -> None:
    assert [row[0] for row in rows(numbered("get", "cm", "--no-headers", "--sort-by", ".data.rank"))] == [
        f"c{n}" for n in (4, 3, 2, 1, 0)
    ]


def test_chunks_make_the_whole_list(numbered: Kubectl) -> None:
    assert numbered.names("cm", "--chunk-size", "2") == [f"configmap/c{n}" for n in range(5)]
    table = numbered("get", "cm", "--chunk-size", "2")
    assert [row[0] for row in rows(table)] == ["NAME", *(f"c{n}" for n in range(5))]


def test_chunks_are_requested_one_by_one(numbered: Kubectl) -> None:
    done = numbered.run("get", "cm", "--chunk-size", "2", "-v", "6")
    requests = [line for line in done.stderr.splitlines() if "configmaps?" in line]
    assert len(requests) == 3
    assert all("limit=2" in line for line in requests)


def test_status_is_a_subresource(objects: Kubectl) -> None:
    header, row = rows(objects("get", "deployment", "web", "--subresource", "status"))
    assert header[:2] == ["NAME", "READY"]
    assert row[0] == "web"


def test_scale_is_a_subresource(objects: Kubectl) -> None:
    scale = objects.get("deployment", "web", "--subresource", "scale")
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, {"replicas": 0, "selector": "app=web"})
    header, row = rows(objects("get", "deployment", "web", "--subresource", "scale"))
    assert header == ["NAME", "DESIRED", "AVAILABLE", "AGE"]
    assert row[:3] == ["web", "2", "0"]


def test_raw_gives_the_bytes_of_a_path(objects: Kubectl, server: Server) -> None:
    path = f"/api/v1/namespaces/{objects.namespace}/configmaps/other"
    raw = objects("get", "--raw", path)
    assert json.loads(raw)["data"] == {"colour": "red"}
    assert raw.encode() == server.get(path, server.token)[1].strip()
    assert objects("get", "--raw", "/readyz") == "ok"
    assert (
        objects.fails("get", "--raw", "/nope")
        == "Error from server (NotFound): the server could not find the requested resource"
    )


def test_missing_object_is_an_error(kubectl: Kubectl) -> None:
    assert kubectl.fails("get", "cm", "nope") == 'Error from server (NotFound): configmaps "nope" not found'
    message = kubectl.fails("get", "deployment", "nope")
    assert message == 'Error from server (NotFound): deployments.apps "nope" not found'


def test_missing_object_can_be_ignored(kubectl: Kubectl) -> None:
    assert kubectl("get", "cm", "nope", "--ignore-not-found") == ""


def test_unknown_type_is_an_error(kubectl: Kubectl) -> None:
    assert kubectl.fails("get", "gizmos") == 'error: the server doesn\'t have a resource type "gizmos"'


def test_nothing_found_is_reported(kubectl: Kubectl, namespace: str) -> None:
    done = kubectl.run("get", "pods")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"No resources found in {namespace} namespace.\n"


def test_all_is_a_category(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=documents(POD, DEPLOYMENT, SERVICE, CONFIG_MAP))
    assert kubectl.names("all") == ["pod/web", "service/web", "deployment.apps/web"]


def test_group_and_version_can_be_named(objects: Kubectl) -> None:
    assert objects.names("deployments.v1.apps") == ["deployment.apps/web"]
    assert objects("get", "events.v1.events.k8s.io") == ""


def test_files_report_what_to_get(objects: Kubectl) -> None:
    done = objects.run("get", "-f", "-", "-o", "name", stdin=documents(POD, CONFIG_MAP))
    assert done.stdout.split() == ["pod/web", "configmap/settings"]


def test_a_new_object_has_the_status_that_is_always_there(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx")
    assert kubectl.get("deployment", "web")["status"] == {}
    kubectl("create", "quota", "limits", "--hard", "pods=1")
    assert kubectl.get("quota", "limits")["status"] == {}
    kubectl("create", "pdb", "web", "--selector", "app=web", "--min-available", "1")
    assert kubectl.get("pdb", "web")["status"] == {
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "disruptionsAllowed": 0,
        "expectedPods": 0,
    }

"""`sampan up` on what kube-apiserver stored, and as a writer that kube-apiserver can read."""

import json
import socket
import ssl
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.core.object import Object
from sampan.storage.sqlite import SQLiteStore
from sampan.wire import protobuf
from tests.cli.server import Server, running

NAMESPACE: Object = {
    "kind": "Namespace",
    "apiVersion": "v1",
    "metadata": {"name": "default", "uid": "1", "creationTimestamp": "2024-01-01T00:00:00Z"},
    "spec": {"finalizers": ["kubernetes"]},
    "status": {"phase": "Active"},
}
SERVICE: Object = {
    "kind": "Service",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "default", "uid": "2"},
    "spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 8080}], "clusterIP": "10.96.0.9"},
    "status": {"loadBalancer": {}},
}
NAMES: Object = {"plural": "tabs", "singular": "tab", "kind": "Tab", "listKind": "TabList"}
CRD: Object = {
    "kind": "CustomResourceDefinition",
    "apiVersion": "apiextensions.k8s.io/v1",
    "metadata": {"name": "tabs.example.com", "uid": "3", "generation": 1},
    "spec": {
        "group": "example.com",
        "names": NAMES,
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
        "conversion": {"strategy": "None"},
    },
    "status": {
        "acceptedNames": NAMES,
        "conditions": [
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
            {"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "accepted"},
        ],
        "storedVersions": ["v1"],
    },
}
TAB: Object = {"apiVersion": "example.com/v1", "kind": "Tab", "metadata": {"name": "a", "namespace": "default"}, "x": 1}
SERVICES = "/api/v1/namespaces/default/services"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
STORED = {
    "/registry/namespaces/default": protobuf.encode(NAMESPACE),
    "/registry/services/specs/default/web": protobuf.encode(SERVICE),
    "/registry/apiextensions.k8s.io/customresourcedefinitions/tabs.example.com": protobuf.encode(CRD),
    "/registry/example.com/tabs/default/a": orjson.dumps(TAB, option=orjson.OPT_SORT_KEYS) + b"\n",
    "compact_rev_key": b"1",
}


async def stored(data: Path) -> dict[str, bytes]:
    """All rows of a data directory."""
    store = SQLiteStore(data / "state.db")
    await store.open()
    rows = {row.key: row.value for row in (await store.range("\0", "\U0010ffff")).items}
    await store.close()
    return rows


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    """A data directory with what kube-apiserver would have stored."""
    directory = tmp_path / "data"
    directory.mkdir()
    store = SQLiteStore(directory / "state.db")
    await store.open()
    for key, value in STORED.items():
        await store.create(key, value)
    await store.close()
    return directory


def post(server: Server, path: str, body: Object) -> tuple[int, dict[str, Any]]:
    connection = server.connect()
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    reply: dict[str, Any] = json.loads(response.read())
    connection.close()
    return response.status, reply


async def test_a_read_only_server_serves_what_kube_apiserver_stored_and_leaves_it(data: Path) -> None:
    with running(data, "--read-only", loops=True) as server:
        service = server.status(f"{SERVICES}/web", server.token)
        tab = server.status("/apis/example.com/v1/namespaces/default/tabs/a", server.token)
        code, refusal = post(server, CONFIG_MAPS, {"metadata": {"name": "a"}})
        review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        reviewed, _ = post(server, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    defaults = {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}
    families = {"clusterIPs": ["10.96.0.9"], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
    assert (service["spec"], service["metadata"]["resourceVersion"]) == (SERVICE["spec"] | defaults | families, "3")
    assert (tab["x"], tab["metadata"]["resourceVersion"]) == (1, "5")
    assert (code, refusal["reason"], reviewed) == (405, "MethodNotAllowed", 201)
    assert "--read-only" in refusal["message"]
    assert "--read-only" not in data.with_suffix(".log").read_text()
    assert await stored(data) == STORED


@pytest.mark.parametrize(
    ("options", "output"),
    [(["--read-only"], "store is empty: check"), ([], "store is empty: starting a new cluster")],
    ids=["read-only", "new"],
)
def test_a_store_with_nothing_in_it_is_reported_to_be_once(tmp_path: Path, options: list[str], output: str) -> None:
    data = tmp_path / "data"
    for _ in range(2):
        with running(data, *options) as server:
            assert server.get("/version", server.token)[0] == 200
    assert data.with_suffix(".log").read_text().count(output) == (2 if options else 1)


async def test_the_serving_certificate_names_the_address_that_the_service_kubernetes_has(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "state.db")
    await store.open()
    service: Object = {**SERVICE, "metadata": {"name": "kubernetes", "namespace": "default", "uid": "4"}}
    service["spec"] = SERVICE["spec"] | {"clusterIP": "10.77.0.1", "clusterIPs": ["10.77.0.1"]}
    await store.create("/registry/services/specs/default/kubernetes", protobuf.encode(service))
    await store.close()
    with running(tmp_path, "--read-only") as server:
        context = ssl.create_default_context(cafile=str(server.data / "pki" / "ca.crt"))
        with socket.create_connection(("127.0.0.1", server.port)) as sock:
            context.wrap_socket(sock, server_hostname="10.77.0.1").close()


async def test_a_server_that_stores_protobuf_is_read_by_kube_apiserver(tmp_path: Path) -> None:
    with running(tmp_path / "data", "--storage-media-type", "application/vnd.kubernetes.protobuf") as server:
        code, made = post(server, CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"x": "y"}})
        found = server.status(f"{CONFIG_MAPS}/a", server.token)
    assert code == 201
    assert found == made
    rows = await stored(tmp_path / "data")
    row = protobuf.decode(rows["/registry/configmaps/default/a"])
    assert (row["data"], row["metadata"]["name"]) == ({"x": "y"}, "a")
    kinds = {value[:4] for key, value in rows.items() if key.startswith("/registry/")}
    assert kinds == {b"k8s\x00"}


async def test_it_goes_on_when_it_is_started_again_with_json(tmp_path: Path) -> None:
    with running(tmp_path / "data", "--storage-media-type", "application/vnd.kubernetes.protobuf") as server:
        post(server, CONFIG_MAPS, {"metadata": {"name": "a"}})
    with running(tmp_path / "data") as server:
        assert server.status(f"{CONFIG_MAPS}/a", server.token)["metadata"]["name"] == "a"

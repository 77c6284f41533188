"""Users of a running server: front proxies, tokens after a restart, anonymous requests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.server import Server, running

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Server that accepts anonymous requests for the paths in its configuration."""
    folder = tmp_path_factory.mktemp("authentication")
    (folder / "config.yaml").write_text(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
        "anonymous: {enabled: true, conditions: [{path: /livez}]}\n"
    )
    config = folder / "config.yaml"
    with running(folder / "data", "--storage=memory", f"--authentication-config={config}") as started:
        yield started


def post(server: Server, path: str, body: Any, headers: dict[str, str], **files: Path) -> tuple[int, Any]:
    """Send a POST on a new connection."""
    connection = server.connect(**files)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def bearer(token: str) -> dict[str, str]:
    """The header of a token."""
    return {"Authorization": f"Bearer {token}"}


def proxy(server: Server) -> dict[str, Path]:
    """The certificate of the front proxy."""
    pki = server.data / "pki"
    return {"certificate": pki / "front-proxy-client.crt", "key": pki / "front-proxy-client.key"}


def test_the_front_proxy_can_act_as_another_user(server: Server) -> None:
    headers = {"X-Remote-User": "jane", "X-Remote-Group": "dev"}
    status, review = post(server, REVIEWS, REVIEW, headers, **proxy(server))
    assert status == 201, review
    assert review["status"]["userInfo"] == {"username": "jane", "groups": ["dev", "system:authenticated"]}


def test_the_front_proxy_itself_is_no_client(server: Server) -> None:
    status, reply = post(server, REVIEWS, REVIEW, {}, **proxy(server))
    assert (status, reply["message"]) == (401, "Unauthorized")


def test_users_other_than_the_front_proxy_cannot_act_as_another_user(server: Server) -> None:
    headers = {"X-Remote-User": "jane", "X-Remote-Group": "system:masters"}
    status, review = post(server, REVIEWS, REVIEW, {**headers, **bearer(server.token)})
    assert review["status"]["userInfo"]["username"] == "admin"
    assert status == 201
    assert post(server, REVIEWS, REVIEW, headers)[0] == 401


def test_the_anonymous_are_let_in_where_the_configuration_states(server: Server) -> None:
    assert server.get("/livez")[0] == 200
    assert server.get("/readyz")[0] == 401


def test_tokens_outlive_a_restart_and_are_in_no_log(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, "--log-level=debug") as first:
        admin = bearer(first.token)
        assert post(first, ACCOUNTS, {"metadata": {"name": "robot"}}, admin)[0] == 201
        status, request = post(first, f"{ACCOUNTS}/robot/token", {}, admin)
        assert status == 201, request
        token = request["status"]["token"]
    with running(data, "--log-level=debug") as second:
        status, review = post(second, REVIEWS, REVIEW, bearer(token))
        assert review["status"]["userInfo"]["username"] == "system:serviceaccount:default:robot"
        assert post(second, REVIEWS, REVIEW, bearer(f"{token}x"))[0] == 401
        admin_token = second.token
    log = data.with_suffix(".log").read_text()
    assert "token refused" in log
    for secret in (admin_token, *token.split(".")[1:]):
        assert secret not in log

"""Authorizers of a server, with webhooks over real TLS."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.app.access.authorization import ConfiguredAuthorizer, authorizers_of
from sampan.app.errors import StartError
from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.request import RequestInfo, UserInfo
from sampan.storage.memory import MemoryStore
from tests.server.tls_files import Files, make_files

JANE = UserInfo("jane")


def made(settings: UpSettings) -> list[Authorizer]:
    """The authorizers of a cluster that does not run."""
    return authorizers_of(settings, Cluster(MemoryStore()))


@asynccontextmanager
async def webhook(files: Files, allowed: bool) -> AsyncIterator[Path]:
    """An HTTPS server that gives every review the same answer; gives the kubeconfig that leads there."""
    pair = files.serving("hook", "127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pair.certificate, pair.key)

    async def response(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        review = orjson.loads(await reader.readexactly(length)) | {"status": {"allowed": allowed, "reason": "hook"}}
        body = orjson.dumps(review)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(response, "127.0.0.1", 0, ssl=tls) as server:
        port = server.sockets[0].getsockname()[1]
        config = {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "w", "user": ""}}],
            "clusters": [
                {"name": "w", "cluster": {"server": f"https://127.0.0.1:{port}", "certificate-authority": "ca.crt"}}
            ],
        }
        file = files.folder / "webhook.kubeconfig"
        file.write_bytes(orjson.dumps(config))
        yield file


def configuration(kubeconfig: Path, policy: str = "Deny") -> bytes:
    """One webhook."""
    sent: dict[str, Any] = {
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "failurePolicy": policy,
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": str(kubeconfig)},
    }
    head = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
    return orjson.dumps({**head, "authorizers": [{"type": "Webhook", "name": "w", "webhook": sent}]})


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_webhook_is_called_over_tls(tmp_path: Path, version: str) -> None:
    async with webhook(make_files(tmp_path), True) as file:
        options: dict[str, Any] = {"authorization_webhook_config_file": file, "authorization_webhook_version": version}
        authorizer = made(UpSettings(authorization_mode=("Webhook",), **options))[0]
        assert await authorizer.authorize(JANE, RequestInfo("/x", "get")) == (Decision.ALLOW, "hook", "")


@pytest.mark.parametrize(("policy", "decision"), [("Deny", Decision.DENY), ("NoOpinion", Decision.NO_OPINION)])
async def test_one_with_a_foreign_certificate_is_not_trusted(tmp_path: Path, policy: str, decision: Decision) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with webhook(make_files(tmp_path / "a"), True) as file:
        (tmp_path / "a" / "ca.crt").write_bytes(make_files(tmp_path / "b").ca_file.read_bytes())
        config = tmp_path / "config"
        config.write_bytes(configuration(file, policy))
        verdict = await made(UpSettings(authorization_config=config))[0].authorize(JANE, RequestInfo("/x", "get"))
        assert verdict.decision is decision
        assert "certificate signed by unknown authority" in verdict.error


async def test_a_changed_file_counts_and_a_broken_one_does_not(tmp_path: Path) -> None:
    config = tmp_path / "config"
    text = '{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration", "authorizers": [%s]}'
    config.write_text(text % '{"type": "AlwaysDeny", "name": "a"}')
    authorizer = made(UpSettings(authorization_config=config))[0]
    assert isinstance(authorizer, ConfiguredAuthorizer)
    observed = []
    for content in ("", text % "", text % '{"type": "AlwaysAllow", "name": "a"}'):
        config.write_text(content)
        authorizer.reload()
        observed.append((await authorizer.authorize(JANE, RequestInfo("/x", "get"))).decision)
    assert observed == [Decision.NO_OPINION, Decision.NO_OPINION, Decision.ALLOW]


REFUSED: list[Any] = [
    pytest.param({"authorization_mode": ()}, "at least one authorization-mode must be passed", id="none"),
    pytest.param({"authorization_mode": ("X",)}, 'authorization-mode "X" is not a valid mode', id="unknown"),
    pytest.param({"authorization_mode": ("RBAC", "RBAC")}, "has mode specified more than once", id="twice"),
    pytest.param({"authorization_mode": ("Webhook",)}, "authorization config file not passed", id="no webhook"),
    pytest.param(
        {"authorization_webhook_config_file": Path("x")},
        "cannot specify --authorization-webhook-config-file without mode Webhook",
        id="a webhook that nobody asks",
    ),
    pytest.param(
        {"authorization_config": Path("x"), "authorization_mode": ("RBAC",)}, "can not be specified when", id="both"
    ),
    pytest.param({"authorization_config": Path("/not/there")}, "cannot read /not/there", id="no file"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
async def test_contradicting_authorization_options_are_refused_at_startup(options: dict[str, Any], text: str) -> None:
    with pytest.raises(StartError) as caught:
        made(UpSettings(**options))
    assert text in str(caught.value)


async def test_policies_of_a_file_decide(tmp_path: Path) -> None:
    file = tmp_path / "policies"
    file.write_text('{"user": "jane"}\n')
    authorizer = made(UpSettings(authorization_mode=("ABAC",), authorization_policy_file=file))[0]
    assert (await authorizer.authorize(JANE, RequestInfo("/x", "get"))).decision is Decision.ALLOW


def test_a_policy_file_and_its_mode_belong_together(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="authorization policy file not passed"):
        made(UpSettings(authorization_mode=("ABAC",)))
    with pytest.raises(StartError, match="without mode ABAC"):
        made(UpSettings(authorization_policy_file=tmp_path / "policies"))

"""Audit as the settings configure it, with a webhook behind TLS."""

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.app.errors import StartError
from sampan.app.observability.audit import audit_of
from sampan.app.settings.audit import AuditLogSettings, AuditSettings, AuditWebhookSettings, Delivery
from sampan.registry.cluster import Cluster
from sampan.storage.memory import MemoryStore
from tests.registry.webhook.tls import bundle, listening, ok, requests
from tests.server.audit.recorder import policy_text
from tests.server.frame import MASTER, Frame
from tests.server.frame import ok as responses


def policy_in(directory: Path) -> Path:
    file = directory / "policy.yaml"
    file.write_bytes(policy_text({"level": "Metadata", "omitStages": ["RequestReceived"]}))
    return file


def kubeconfig_in(directory: Path, port: int) -> Path:
    file = directory / "webhook.kubeconfig"
    cluster = {"server": f"https://127.0.0.1:{port}/audit", "certificate-authority-data": bundle()}
    config = {
        "clusters": [{"name": "a", "cluster": cluster}],
        "contexts": [{"name": "a", "context": {"cluster": "a"}}],
        "current-context": "a",
    }
    file.write_bytes(orjson.dumps(config))
    return file


@pytest.mark.parametrize("response", [b"{}", b""], ids=["an object", "nothing"])
@pytest.mark.parametrize("mode", ["batch", "blocking"])
async def test_a_webhook_gets_the_events_once_at_the_latest_at_the_end(
    tmp_path: Path, mode: str, response: bytes
) -> None:
    sent: list[tuple[str, Any]] = []

    async def hook(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line, body in requests(reader):
            sent.append((line, orjson.loads(body)))
            writer.write(ok(response))

    async with listening(tmp_path, hook) as port:
        webhook = AuditWebhookSettings(kubeconfig_in(tmp_path, port), delivery=Delivery(mode))
        audit = audit_of(AuditSettings(policy_in(tmp_path), webhook=webhook), Cluster(MemoryStore()))
        assert audit is not None
        running = asyncio.create_task(audit.run())
        await asyncio.sleep(0)
        client = Frame(responses, audit=audit).client(MASTER)
        for _ in range(3):
            await client.get("/version")
        assert len(sent) == (3 if mode == "blocking" else 0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert {line for line, _ in sent} == {"POST /audit?timeout=30s HTTP/1.1"}
    assert sum(len(body["items"]) for _, body in sent) == 3


async def test_without_a_policy_or_a_backend_there_is_no_audit(tmp_path: Path) -> None:
    cluster = Cluster(MemoryStore())
    assert audit_of(AuditSettings(), cluster) is None
    assert audit_of(AuditSettings(log=AuditLogSettings(str(tmp_path / "log"))), cluster) is None
    assert audit_of(AuditSettings(policy_in(tmp_path)), cluster) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"kind: Config"])
async def test_a_kubeconfig_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config"
    file.write_bytes(content)
    settings = AuditSettings(policy_in(tmp_path), webhook=AuditWebhookSettings(file))
    with pytest.raises(StartError, match="initializing audit webhook"):
        audit_of(settings, Cluster(MemoryStore()))


async def test_a_log_where_no_client_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = AuditLogSettings(str(tmp_path / "file" / "audit.log"))
    with pytest.raises(StartError, match="for the audit"):
        audit_of(AuditSettings(policy_in(tmp_path), log), Cluster(MemoryStore()))

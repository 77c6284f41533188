"""The kubeconfig of an AdmissionConfiguration has the credentials that the server shows to webhooks."""

import asyncio
from pathlib import Path

import orjson
import pytest

from sampan.registry.cluster import Cluster
from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.target import target_of
from sampan.server.admission.dynamic_admission import DynamicAdmission, validating_webhooks
from sampan.server.admission.matching.subject import Surroundings
from sampan.server.admission.metrics.metrics import AdmissionMetrics
from sampan.server.admission.webhook.validating import ValidatingAdmissionWebhook
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.storage.memory import MemoryStore
from tests.registry.webhook.tls import bundle, listening, ok


def plugin(cluster: Cluster, **configuration: str) -> ValidatingAdmissionWebhook:
    """The plug-in with its part of an AdmissionConfiguration."""
    admission = DynamicAdmission(Surroundings(cluster), MastersAuthorizer(), AdmissionMetrics())
    return validating_webhooks(admission, configuration)


async def test_the_token_of_the_host_is_shown(tmp_path: Path) -> None:
    heads: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ok(b"{}"))

    cluster = Cluster(MemoryStore())
    async with listening(tmp_path, handle) as port:
        path = tmp_path / "kubeconfig"
        path.write_bytes(orjson.dumps({"users": [{"name": f"127.0.0.1:{port}", "user": {"token": "secret"}}]}))
        made = plugin(cluster, kubeConfigFile=str(path))
        webhook = made._caller._connect(target_of({"url": f"https://127.0.0.1:{port}/", "caBundle": bundle()}))
        assert isinstance(webhook, HttpsWebhook)
        await webhook.post(b"{}", 5)
        cluster.webhooks.close()
    assert b"\r\nAuthorization: Bearer secret\r\n" in heads[0]


@pytest.mark.parametrize("path", ["relative", "/nowhere/kubeconfig"])
async def test_a_file_that_cannot_be_used_is_reported_at_the_start(path: str) -> None:
    with pytest.raises(ValueError, match=r"kubeconfig|must be an absolute file path"):
        plugin(Cluster(MemoryStore()), kubeConfigFile=path)

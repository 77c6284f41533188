"""A webhook that a kubeconfig names: with TLS, or without."""

import asyncio
from pathlib import Path

import orjson
import pytest

from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.credentials import NO_CREDENTIALS
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from tests.registry.webhook.test_client import never
from tests.registry.webhook.tls import listening, ok


def _kubeconfig(directory: Path, server: str) -> Path:
    file = directory / "kubeconfig"
    config = {
        "clusters": [{"name": "a", "cluster": {"server": server}}],
        "users": [{"name": "a", "user": {"token": "sesame"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    file.write_bytes(orjson.dumps(config))
    return file


async def test_a_server_without_tls_gets_no_token(tmp_path: Path) -> None:
    heads = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(ok(b"{}"))

    async with listening(tmp_path, handle, secure=False) as port:
        target, credentials = read_webhook_kubeconfig(_kubeconfig(tmp_path, f"http://127.0.0.1:{port}/audit"))
        webhook = HttpsWebhook(target, never, credentials)
        assert await webhook.post(b"{}", 5) == b"{}"
        webhook.close()
    [head] = heads
    assert head.startswith(f"POST /audit?timeout=5s HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")
    assert "sesame" not in head


def test_a_server_with_tls_gets_the_token(tmp_path: Path) -> None:
    assert read_webhook_kubeconfig(_kubeconfig(tmp_path, "https://h/x"))[1].authorization == "Bearer sesame"
    assert read_webhook_kubeconfig(_kubeconfig(tmp_path, "http://h/x"))[1] is NO_CREDENTIALS


def test_urls_keep_their_scheme_and_port(tmp_path: Path) -> None:
    assert read_webhook_kubeconfig(_kubeconfig(tmp_path, "http://h/x"))[0].url("") == "http://h/x"
    assert read_webhook_kubeconfig(_kubeconfig(tmp_path, "http://h:443/x"))[0].url("") == "http://h:443/x"


def test_a_redirect_never_leaves_tls(tmp_path: Path) -> None:
    plain, _ = read_webhook_kubeconfig(_kubeconfig(tmp_path, "http://h/x"))
    assert plain.elsewhere("https://other/y").secure
    assert plain.elsewhere("/y").url("") == "http://h/y"
    with pytest.raises(ValueError, match='unsupported protocol scheme "http"'):
        read_webhook_kubeconfig(_kubeconfig(tmp_path, "https://h/x"))[0].elsewhere("http://other/y")


@pytest.mark.parametrize("server", ["ftp://h/x", "", "h:80", "http://"])
def test_a_server_that_is_no_url_is_refused(tmp_path: Path, server: str) -> None:
    with pytest.raises(ValueError, match="must be an http or https URL"):
        read_webhook_kubeconfig(_kubeconfig(tmp_path, server))

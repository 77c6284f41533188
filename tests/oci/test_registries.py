"""Pulls from and pushes to registries. Source: distribution-spec spec.md (v1.1)."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sampan.oci.credentials import RegistryCredentials
from sampan.oci.descriptor import Descriptor
from sampan.oci.errors import OciError, RegistryError
from sampan.oci.http_exchange import HttpExchange, is_loopback
from sampan.oci.image import blobs_of, manifests_of, read_base
from sampan.oci.reference import Reference
from sampan.oci.registry import Registry
from sampan.oci.transfer import RegistrySource, push
from tests.oci.images import AMD64, new_store, small_image, small_index
from tests.oci.registry_server import PASSWORD, USER, RegistryServer, serving

LOGIN = RegistryCredentials(USER, PASSWORD)


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving(RegistryServer()) as registry:
        yield registry


@pytest.fixture
async def exchange() -> AsyncIterator[HttpExchange]:
    async with HttpExchange() as made:
        yield made


def reference(server: RegistryServer, name: str = "team/boats:1") -> Reference:
    """Return the name of an image on the server."""
    return Reference.parse(f"{server.host}/{name}")


def registry(
    exchange: HttpExchange, server: RegistryServer, credentials: RegistryCredentials | None = None
) -> Registry:
    """Return a client of the server."""
    return Registry(exchange, server.host, lambda host: credentials)


async def test_a_pushed_image_can_be_pulled(server: RegistryServer, exchange: HttpExchange, tmp_path: Path) -> None:
    store, client = new_store(tmp_path), registry(exchange, server)
    root = small_index(store)
    pushed = await push(client, reference(server), root, store)
    assert pushed.digest == root.digest
    other = new_store(tmp_path / "other")
    base = await read_base(RegistrySource(client, reference(server)), AMD64, other)
    await client.fetch(reference(server), base.layers[0], other)
    assert other.read(base.layers[0].digest) == store.read(base.layers[0].digest)


async def test_only_new_blobs_are_sent(server: RegistryServer, exchange: HttpExchange, tmp_path: Path) -> None:
    store, client = new_store(tmp_path), registry(exchange, server)
    await push(client, reference(server), small_image(store), store)
    again = await push(client, reference(server), small_image(store), store)
    assert again.sent_bytes == 0
    changed = small_image(store, text=b"changed\n")
    config, layer = blobs_of(store, changed)
    assert (await push(client, reference(server), changed, store)).sent_bytes == config.size + layer.size


async def test_a_large_layer_is_sent_in_pieces(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampan.oci.registry._PIECE_BYTES", 10)
    store = new_store(tmp_path)
    blob = store.add(b"0123456789" * 3 + b"x", "application/octet-stream")
    assert await registry(exchange, server).push_blob(reference(server), blob, store)
    assert server.blobs["team/boats", blob.digest] == store.read(blob.digest)
    assert len([each for each in server.requests if each.startswith("PATCH")]) == 4


async def test_layers_of_the_base_are_mounted_without_being_fetched(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path
) -> None:
    store, client = new_store(tmp_path), registry(exchange, server)
    content = b"layer of the base"
    digest = server.add_blob("library/base", content)
    blob = Descriptor("application/octet-stream", digest, len(content))
    assert not await client.push_blob(reference(server), blob, store, mount_from="library/base")
    assert server.blobs["team/boats", digest] == content
    assert digest not in store


async def test_a_blob_that_cannot_be_mounted_is_fetched_and_sent(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path
) -> None:
    store, client = new_store(tmp_path), registry(exchange, server)
    blob = Descriptor.of(b"elsewhere", "application/octet-stream")

    async def fetch(requested: Descriptor) -> None:
        store.add(b"elsewhere", requested.media_type)

    assert await client.push_blob(reference(server), blob, store, mount_from="library/base", fetch=fetch)
    assert server.blobs["team/boats", blob.digest] == b"elsewhere"


@pytest.mark.parametrize("authentication", ["basic", "token"])
async def test_a_login_is_used(authentication: str, exchange: HttpExchange, tmp_path: Path) -> None:
    with serving(RegistryServer(authentication)) as server:
        store = new_store(tmp_path)
        pushed = await push(registry(exchange, server, LOGIN), reference(server), small_image(store), store)
        assert server.manifests["team/boats", "1"][1] == store.read(pushed.digest)


async def test_an_identity_token_is_exchanged(exchange: HttpExchange, tmp_path: Path) -> None:
    with serving(RegistryServer("token")) as server:
        store = new_store(tmp_path)
        client = registry(exchange, server, RegistryCredentials(identity_token="identity"))
        await push(client, reference(server), small_image(store), store)
        assert ("team/boats", "1") in server.manifests


@pytest.mark.parametrize("authentication", ["basic", "token"])
@pytest.mark.parametrize("credentials", [None, RegistryCredentials(USER, "wrong")])
async def test_a_refused_login_is_an_error_with_a_hint(
    authentication: str, credentials: RegistryCredentials | None, exchange: HttpExchange, tmp_path: Path
) -> None:
    with serving(RegistryServer(authentication)) as server:
        store = new_store(tmp_path)
        with pytest.raises(RegistryError, match=rf"(docker login {server.host}|login was refused)") as raised:
            await push(registry(exchange, server, credentials), reference(server), small_image(store), store)
        assert PASSWORD not in str(raised.value)
        assert not server.blobs


async def test_an_overloaded_registry_is_tried_again(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sampan.oci.http_exchange._PAUSE_S", 0.01)
    store = new_store(tmp_path)
    server.failures = [503, 429]
    await push(registry(exchange, server), reference(server), small_image(store), store)
    assert ("team/boats", "1") in server.manifests


async def test_the_reason_of_a_refusal_is_shown(server: RegistryServer, exchange: HttpExchange, tmp_path: Path) -> None:
    body = json.dumps({"errors": [{"code": "DENIED", "message": "quota of\nteam is full\x1b[31m"}]}).encode()
    server.refusals["POST"] = (403, body)
    store = new_store(tmp_path)
    with pytest.raises(RegistryError, match=r"responded 403: quota ofteam is full\[31m$") as raised:
        await push(registry(exchange, server), reference(server), small_image(store), store)
    assert raised.value.status == 403


async def test_an_absent_image_is_named(server: RegistryServer, exchange: HttpExchange) -> None:
    with pytest.raises(RegistryError, match=r"team/boats:1 cannot be read: .* responded 404: manifest unknown"):
        await registry(exchange, server).manifest(reference(server))


async def test_a_blob_with_other_content_is_refused(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path
) -> None:
    store = new_store(tmp_path)
    blob = Descriptor.of(b"expected", "application/octet-stream")
    for content in (b"tampered", b"longer than expected", b""):
        server.blobs["team/boats", blob.digest] = content
        with pytest.raises(OciError, match=r"expected blob|has over 8 bytes"):
            await registry(exchange, server).fetch(reference(server), blob, store)
        assert blob.digest not in store
    assert not list((tmp_path / "blobs" / "sha256").iterdir())


async def test_a_manifest_with_another_digest_is_refused(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path
) -> None:
    store = new_store(tmp_path)
    await push(registry(exchange, server), reference(server), small_image(store), store)
    digest = small_image(store, text=b"another\n").digest
    server.manifests["team/boats", digest] = server.manifests["team/boats", "1"]
    with pytest.raises(OciError, match="sent another manifest"):
        await registry(exchange, server).manifest(reference(server).at(digest))


async def test_a_redirect_to_another_server_carries_no_authorization(exchange: HttpExchange, tmp_path: Path) -> None:
    with serving(RegistryServer("basic")) as server, serving(RegistryServer()) as elsewhere:
        store = new_store(tmp_path)
        server.redirect_blobs_to = f"http://{elsewhere.host}"
        digest = server.add_blob("team/boats", b"content")
        elsewhere.add_blob("elsewhere", b"content")
        blob = Descriptor("application/octet-stream", digest, 7)
        await registry(exchange, server, LOGIN).fetch(reference(server), blob, store)
        assert store.read(digest) == b"content"
        [headers] = elsewhere.redirected_headers
        assert "authorization" not in headers


async def test_an_upload_to_another_server_carries_no_authorization(exchange: HttpExchange, tmp_path: Path) -> None:
    with serving(RegistryServer("basic")) as server, serving(RegistryServer()) as elsewhere:
        store = new_store(tmp_path)
        server.upload_to = f"http://{elsewhere.host}"
        elsewhere.uploads[0] = bytearray()
        blob = store.add(b"content", "application/octet-stream")
        await registry(exchange, server, LOGIN).push_blob(reference(server), blob, store)
        assert elsewhere.blobs["team/boats", blob.digest] == b"content"
        assert all("authorization" not in headers for headers in elsewhere.redirected_headers)
        assert elsewhere.redirected_headers


async def test_an_endless_redirect_ends(server: RegistryServer, exchange: HttpExchange, tmp_path: Path) -> None:
    server.redirect_blobs_to = f"http://{server.host}/v2/team/boats/blobs/sha256:{'0' * 64}?"
    blob = Descriptor("application/octet-stream", server.add_blob("team/boats", b"x"), 1)
    with pytest.raises(RegistryError):
        await registry(exchange, server).fetch(reference(server), blob, new_store(tmp_path))


async def test_a_server_that_is_not_there_is_named(exchange: HttpExchange, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.oci.http_exchange._PAUSE_S", 0.001)
    with serving(RegistryServer()) as server:
        gone = server.host
    with pytest.raises(RegistryError, match=f"cannot connect to http://{gone}: connection refused"):
        await Registry(exchange, gone, lambda host: None).manifest(Reference.parse(f"{gone}/boats:1"))


async def test_nothing_is_sent_without_tls_to_another_machine(exchange: HttpExchange) -> None:
    with pytest.raises(RegistryError, match="does not use TLS"):
        await exchange.send("GET", "http://registry.test/v2/")
    assert exchange.base_of("registry.test") == "https://registry.test"


@pytest.mark.parametrize("host", ["localhost", "localhost:5000", "127.0.0.1:5000", "127.8.8.8", "[::1]:5000"])
def test_a_host_on_loopback_is_known(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["registry.test", "localhost.test", "127.0.0.1.test", "10.0.0.1:5000", "[::2]"])
def test_another_host_is_not_on_loopback(host: str) -> None:
    assert not is_loopback(host)


async def test_a_layout_of_the_store_survives_two_writers(tmp_path: Path) -> None:
    store = new_store(tmp_path)

    async def content() -> AsyncIterator[bytes]:
        for piece in (b"a", b"b"):
            await asyncio.sleep(0)
            yield piece

    blob = Descriptor.of(b"ab", "application/octet-stream")
    await asyncio.gather(*(store.add_stream(blob, content(), "test") for _ in range(3)))
    assert store.read(blob.digest) == b"ab"
    assert [path.name for path in (tmp_path / "blobs" / "sha256").iterdir()] == [blob.digest.partition(":")[2]]


async def test_an_index_is_pushed_after_its_manifests(
    server: RegistryServer, exchange: HttpExchange, tmp_path: Path
) -> None:
    store = new_store(tmp_path)
    root = small_index(store)
    await push(registry(exchange, server), reference(server), root, store)
    puts = [each.rsplit("/", 1)[1] for each in server.requests if "PUT" in each and "manifests" in each]
    assert puts == [*(each.digest for each in manifests_of(store, root)), "1"]

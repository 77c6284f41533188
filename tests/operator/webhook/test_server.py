"""The server itself: what it refuses, its metrics and checks, its paths, how it starts and ends."""

import asyncio
import datetime
import ssl
from pathlib import Path
from typing import Any

import pytest

from sampan.core.tls.certificates import make_authority, make_client_certificate
from sampan.operator.manager import ManagerOptions
from sampan.operator.webhook import DirectoryStore, HookKind, Operation, Validator, WebhookOptions
from sampan.operator.webhook.certificates import CertificateTerms
from tests.operator.manager.frame import manager
from tests.operator.manager.frame import running as running_manager
from tests.operator.webhook.frame import (
    LOOPBACK,
    FixedClock,
    Network,
    NetworkV2,
    fetch,
    network,
    review,
    reviewed,
    running,
    webhook_server,
)
from tests.unreadable import DEEP, NO_TEXT

VALIDATE = "/validate-net-example-com-v1-network"
GOOD = review("CREATE", network())


@pytest.mark.parametrize(
    ("path", "body", "headers", "code", "text"),
    [
        ("/other", GOOD, {}, 404, "404 page not found"),
        (VALIDATE, b"", {}, 400, "request body is empty"),
        (VALIDATE, GOOD, {"content_type": "text/yaml"}, 400, "contentType=text/yaml, expected application/json"),
        (VALIDATE, b"{", {}, 400, "cannot decode the review"),
        (VALIDATE, b'{"kind":' + NO_TEXT + b"}", {}, 400, "cannot decode the review"),
        (VALIDATE, b'{"x":' + DEEP + b"}", {}, 400, "cannot decode the review"),
        (VALIDATE, {**GOOD, "apiVersion": "admission.k8s.io/v2"}, {}, 400, "expected AdmissionReview in"),
        (VALIDATE, {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}, {}, 400, "missing required field"),
        (VALIDATE, review("EAT", network()), {}, 400, "Invalid enum value 'EAT'"),
        (VALIDATE, b" " * (7 * 1024 * 1024 + 1), {}, 413, "request entity is too large; limit is 7340032 bytes"),
    ],
    ids=["path", "empty", "media type", "syntax", "no text", "deep", "version", "no request", "operation", "size"],
)
async def test_a_request_that_is_no_review_is_refused(path: str, body: Any, headers: Any, code: int, text: str) -> None:
    server = webhook_server()
    server.register_validator(Network, Validator())
    async with running(server):
        found, response = await fetch(server, path, body, **headers)
    assert (found, text in str(response)) == (code, True)


async def test_methods_other_than_post_are_refused() -> None:
    server = webhook_server()
    server.register_validator(Network, Validator())
    async with running(server):
        assert (await fetch(server, VALIDATE, GOOD, method="PUT"))[0] == 405


async def test_a_handler_that_takes_longer_than_the_api_server_waits_is_given_up() -> None:
    server = webhook_server()
    ended: list[bool] = []

    @server.validating(Network)
    async def check(new: Network, old: Network | None) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append(True)

    async with running(server):
        assert (await fetch(server, f"{VALIDATE}?timeout=10ms", GOOD))[0] == 504
    assert ended == [True]


async def test_metrics_report_of_requests() -> None:
    made = manager()
    server = webhook_server(made=made)

    @server.validating(Network)
    def check(new: Network, old: Network | None) -> None:
        assert value("controller_runtime_webhook_requests_in_flight", webhook=VALIDATE) == 1
        raise KeyError

    def value(name: str, **labels: str) -> float | None:
        return made.registry.get_sample_value(name, labels)

    async with running(server):
        assert value("controller_runtime_webhook_requests_total", webhook=VALIDATE, code="200") == 0
        await reviewed(server, VALIDATE, GOOD)
        await fetch(server, VALIDATE, b"{")
    for code in ("200", "400"):
        assert value("controller_runtime_webhook_requests_total", webhook=VALIDATE, code=code) == 1
    assert value("controller_runtime_webhook_latency_seconds_count", webhook=VALIDATE) == 2
    assert value("controller_runtime_webhook_requests_in_flight", webhook=VALIDATE) == 0
    assert value("controller_runtime_webhook_panics_total") == 1


async def test_checks_fail_before_it_listens_and_when_the_certificate_has_ended() -> None:
    clock = FixedClock()
    server = webhook_server(made=manager(ManagerOptions(clock=clock)))
    with pytest.raises(RuntimeError, match="is not listening"):
        server.check()
    async with running(server):
        server.check()
        clock.advance(days=CertificateTerms().lifetime.days + 1)
        with pytest.raises(RuntimeError, match="has expired"):
            server.check()


async def test_a_manager_runs_it_and_its_probes_report() -> None:
    made = manager(ManagerOptions(probe_address="127.0.0.1:0"))
    server = webhook_server(made=made)
    server.register_validator(Network, Validator())
    async with running_manager(made):
        await server.ready()
        assert (await reviewed(server, VALIDATE, GOOD))["allowed"] is True
        server.check()
    with pytest.raises(RuntimeError, match="is not listening"):
        server.check()


async def test_a_review_in_progress_is_completed_when_the_manager_stops() -> None:
    made = manager()
    server = webhook_server(made=made)
    begun, go_on = asyncio.Event(), asyncio.Event()

    @server.validating(Network)
    async def check(new: Network, old: Network | None) -> None:
        begun.set()
        await go_on.wait()

    async with running_manager(made):
        await server.ready()
        requested = asyncio.create_task(reviewed(server, VALIDATE, GOOD))
        await begun.wait()
        made.stop()
        go_on.set()
        assert (await requested)["allowed"] is True


async def test_port_minus_one_serves_nothing() -> None:
    server = webhook_server(options=WebhookOptions(port=-1))
    async with running(server):
        server.check()
        assert server.disabled


async def test_a_port_that_is_taken_is_an_error() -> None:
    async with running(webhook_server()) as first:
        second = webhook_server(options=WebhookOptions(host="127.0.0.1", port=first.port))
        with pytest.raises(ExceptionGroup) as caught:
            await second.run()
        assert caught.group_contains(OSError)


async def test_a_conversion_without_both_functions_is_an_error() -> None:
    server = webhook_server()
    server.conversion(NetworkV2).to_hub(Network)(lambda old: NetworkV2)  # type: ignore[arg-type, return-value]  # unused
    with pytest.raises(TypeError, match=r"lacks from_hub\(net.example.com/v1\)"):
        await server.run()


async def test_a_path_is_for_one_resource() -> None:
    server = webhook_server()
    server.register_validator(Network, Validator(), path="/x")
    with pytest.raises(ValueError, match="/x is in use"):
        server.register_validator(NetworkV2, Validator(), path="/x")
    with pytest.raises(ValueError, match="/x is in use"):
        server.register_validator(Network, Validator(), path="/x", failure_policy="Ignore")


async def test_operations_of_handlers_at_one_path_add_up() -> None:
    server = webhook_server()

    class OnDelete(Validator[Network]):
        def on_delete(self, obj: Network) -> None:
            """Called for deletions too."""

    server.register_validator(Network, Validator())
    server.register_validator(Network, OnDelete())
    (hook,) = server.hooks
    assert (hook.kind, hook.path) == (HookKind.VALIDATING, VALIDATE)
    assert hook.options["operations"] == (Operation.CREATE, Operation.UPDATE, Operation.DELETE)


async def test_only_clients_of_a_known_authority_are_served_if_so_reported(tmp_path: Path) -> None:
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    authority = make_authority("clients", now, day)
    client = make_client_certificate(authority, "ann", (), now, day)
    (tmp_path / "ca.pem").write_bytes(authority.certificate_pem())
    (tmp_path / "client.pem").write_bytes(client.certificate_pem() + client.key_pem())
    options = WebhookOptions(host="127.0.0.1", port=0, client_ca_file=tmp_path / "ca.pem")
    async with running(webhook_server(options=options)) as server:
        context = ssl.create_default_context(cadata=server.certificates.material.ca_bundle.decode())
        with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
            await first_line(server.port, context)
        context.load_cert_chain(tmp_path / "client.pem")
        assert (await first_line(server.port, context)).startswith(b"HTTP/1.1 404")


async def first_line(port: int, context: ssl.SSLContext) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        writer.write(b"GET / HTTP/1.1\r\nhost: h\r\n\r\n")
        return await reader.readuntil(b"\n")
    finally:
        writer.close()


async def test_certificates_may_live_in_a_directory(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "certificates")
    async with running(webhook_server(store=store)) as server:
        shown = server.certificates.material
        assert await fetch(server, "/", {}) == (404, b"404 page not found\n")
    async with running(webhook_server(store=store, options=LOOPBACK)) as server:
        assert server.certificates.material == shown
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "certificates").glob("*.key")} == {0o600}

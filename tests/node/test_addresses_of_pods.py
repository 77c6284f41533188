"""Nodes refuse to connect to link-local addresses that a Pod names."""

import pytest

from sampan.node.probes.grpc import probe_grpc
from sampan.node.probes.http import HttpFailed, http_get_of, probe_http, send
from sampan.node.probes.tcp import probe_tcp
from sampan.node.process.ports import connect
from sampan.node.views.container import Container, HttpGetAction
from tests.dialling import FORBIDDEN, SPELLINGS, loopback_only

__all__ = ["loopback_only"]
pytestmark = [
    pytest.mark.usefixtures("loopback_only"),
    pytest.mark.parametrize("host", [each for each in FORBIDDEN + SPELLINGS if "%" not in each]),
]
REFUSED = "address not allowed"


async def test_http_probe_of_a_link_local_address_is_refused(host: str) -> None:
    request = http_get_of(HttpGetAction(port=80, host=host), Container("c", "i"), "127.0.0.1")
    outcome = await probe_http(request, 30)
    assert (outcome.result, outcome.output) == ("failure", f'Get "{request.url}": {REFUSED}')


async def test_hook_to_a_link_local_address_is_refused(host: str) -> None:
    request = http_get_of(HttpGetAction(port=80, host=host), Container("c", "i"), "127.0.0.1", "lifecycle")
    with pytest.raises(HttpFailed, match=REFUSED):
        await send(request)


async def test_tcp_probe_of_a_link_local_address_is_refused(host: str) -> None:
    outcome = await probe_tcp(host, 80, 30)
    assert (outcome.result, outcome.output) == ("failure", REFUSED)


async def test_grpc_probe_of_a_link_local_address_is_refused(host: str) -> None:
    outcome = await probe_grpc(host, 80, "", 30)
    assert (outcome.result, outcome.output.endswith(REFUSED)) == ("failure", True)


async def test_forwarded_port_of_a_link_local_address_is_refused(host: str) -> None:
    with pytest.raises(OSError, match=REFUSED):
        await connect([host], 80)

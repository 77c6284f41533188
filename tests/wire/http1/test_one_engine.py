"""There is one engine: one parser, and requests of the server connect to restricted addresses."""

import re
from pathlib import Path

import pytest

import sampan

SOURCES = Path(sampan.__file__).parent


def found(pattern: str, *layers: str) -> set[str]:
    """Modules whose text matches."""
    files = [file for layer in layers or ("",) for file in (SOURCES / layer).rglob("*.py")]
    return {str(file.relative_to(SOURCES)) for file in files if re.search(pattern, file.read_text())}


def test_the_parser_is_imported_in_one_module() -> None:
    assert found(r"(import|from) httptools") == {"wire/http1/parser.py"}


def test_request_lines_and_status_lines_are_made_in_one_package() -> None:
    made = found(r"""["' }]HTTP/1\.1(\\r| \d| %d)""")
    # The stand-in for etcd runs without the package, so that it starts in a few milliseconds.
    assert {name for name in made if not name.startswith("wire/http1/")} == {"test_server/programs/etcd.py"}


@pytest.mark.parametrize("pattern", [r"class \w*Pool\b.*:", r"class \w*Tunnel\b.*:"], ids=["pool", "tunnel"])
def test_there_is_one_pool_and_one_tunnel(pattern: str) -> None:
    # The generated types of Kubernetes' objects, such as ResourcePool, connect to nothing.
    connecting = {name for name in found(pattern) if not name.startswith("kinds/")}
    assert connecting <= {"http/client/pool.py", "http/tunnel.py"}


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        # Hosts of these are settings, or named by tokens of configured issuers.
        (r"any_address=", {"registry/webhook/client.py", "server/authentication/jwt/https.py"}),
        # It checks the addresses of other servers, which an EndpointSlice names.
        (r"\b(Dialer|HttpTransport)\(", {"node/tunnel/agent.py"}),
    ],
    ids=["any address", "unrestricted transport"],
)
def test_the_server_and_nodes_connect_to_restricted_addresses(pattern: str, allowed: set[str]) -> None:
    assert found(pattern, "registry", "server", "node") == allowed

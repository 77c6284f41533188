"""Distributed claims: groups that are fetched over HTTPS from an endpoint, in a token of the endpoint's issuer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.server.authentication.jwt.configured import ConfiguredIssuers
from tests.server.authentication.https_server import https_server
from tests.server.authentication.test_jwt_issuers import FIRST, PLAIN, SECOND, Issuer, fault, known

MAPPINGS = {**PLAIN, "groups": {"claim": "groups", "prefix": "g:"}}
COULD_NOT = "oidc: could not expand distributed claims: "
WELL_KNOWN = ".well-known/openid-configuration"


@dataclass
class Claims:
    """Server with an issuer, a claims endpoint `/claims` with a configurable response, and another issuer."""

    issuer: Issuer
    issuers: ConfiguredIssuers
    responses: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """URL of the server."""
        return self.issuer.server.url

    def publish(self, token: str, path: str = "/claims", status: int = 200) -> None:
        """Have a place answer so."""
        self.responses[path] = (status, token.encode())

    def token(self, **source: str) -> str:
        """A token that leaves the groups to a source."""
        return self.issuer.token(
            _claim_names={"groups": "src"}, _claim_sources={"src": {"endpoint": f"{self.url}/claims", **source}}
        )


@asynccontextmanager
async def claims(folder: Path) -> AsyncIterator[Claims]:
    """Ends with the block."""
    jwks: list[dict[str, Any]] = []
    responses: dict[str, tuple[int, bytes]] = {}

    async def response(path: str, body: bytes) -> tuple[int, bytes]:
        if path == f"/{WELL_KNOWN}":
            return 200, orjson.dumps({"issuer": server.url, "jwks_uri": f"{server.url}/keys"})
        if path == f"/other/{WELL_KNOWN}":
            return 200, orjson.dumps({"issuer": f"{server.url}/other", "jwks_uri": f"{server.url}/keys"})
        if path == "/keys":
            return 200, orjson.dumps({"keys": jwks})
        return responses.get(path, (404, b""))

    async with https_server(folder, response) as server:
        issuer = Issuer(server, jwks)
        issuer.publish(("1", FIRST))
        yield Claims(issuer, await issuer.believers(MAPPINGS), responses)


async def test_groups_are_fetched_from_the_endpoint_in_the_token(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish(c.issuer.token(groups=["a", "b"]))
        assert (await known(c.issuers, c.token())).user.groups == ("g:a", "g:b")
        assert b"Authorization" not in c.issuer.server.heads[-2]


async def test_the_access_token_is_sent(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish(c.issuer.token(groups="a") + "\n")
        assert (await known(c.issuers, c.token(access_token="secret"))).user.groups == ("g:a",)
        [head] = [head for head in c.issuer.server.heads if head.startswith(b"GET /claims ")]
        assert b"\r\nAuthorization: Bearer secret\r\n" in head


async def test_the_access_token_is_not_sent_to_another_host(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish("/near", status=302)
        c.publish(f"{c.url.replace('127.0.0.1', 'localhost')}/far", "/near", 307)
        c.publish(c.issuer.token(groups=["a"]), "/far")
        assert (await known(c.issuers, c.token(access_token="secret"))).user.groups == ("g:a",)
        requested = [head for head in c.issuer.server.heads if b"secret" in head]
        assert [head.split()[1] for head in requested] == [b"/claims", b"/near"]


async def test_a_redirect_loop_is_an_error(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish("/claims", status=302)
        assert "stopped after 10 redirects" in await fault(c.issuers, c.token())


async def test_another_issuer_may_have_signed_them(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish(c.issuer.token(iss=f"{c.url}/other", groups=["a"]))
        for _ in range(2):
            assert (await known(c.issuers, c.token())).user.groups == ("g:a",)
        assert c.issuer.server.requested.count(f"/other/{WELL_KNOWN}") == 1


async def test_groups_in_the_token_itself_are_those(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        token = c.issuer.token(groups=["own"], _claim_names={"groups": "src"}, _claim_sources={"src": {}})
        assert (await known(c.issuers, token)).user.groups == ("g:own",)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({}, id="no names"),
        pytest.param({"_claim_names": {"other": "src"}, "_claim_sources": {"src": {}}}, id="another claim"),
        pytest.param(
            {"_claim_names": {"groups": "src"}, "_claim_sources": {"src": {"JWT": "x"}}}, id="an aggregated claim"
        ),
    ],
)
async def test_a_token_without_a_source_has_no_groups(tmp_path: Path, values: dict[str, Any]) -> None:
    async with claims(tmp_path) as c:
        assert (await known(c.issuers, c.issuer.token(**values))).user.groups == ()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        pytest.param({"_claim_names": {"groups": "src"}}, "oidc: source does not exist", id="no sources"),
        pytest.param(
            {"groups": "own", "_claim_names": {"groups": "x"}}, "oidc: source does not exist", id="not wanted"
        ),
        pytest.param(
            {"_claim_names": {"groups": None}, "_claim_sources": {}},
            "oidc: failed to obtain source from claim name",
            id="no source",
        ),
        pytest.param(
            {"_claim_names": "groups"},
            "oidc: failed to unmarshal claims: json: cannot unmarshal string into Go struct field "
            "idToken._claim_names of type map[string]string",
            id="names are no map",
        ),
        pytest.param(
            {"_claim_names": {"groups": 7}},
            "oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field "
            "idToken._claim_names of type string",
            id="a name is no text",
        ),
        pytest.param(
            {"_claim_sources": {"src": []}},
            "oidc: failed to unmarshal claims: json: cannot unmarshal array into Go struct field "
            "idToken._claim_sources of type oidc.claimSource",
            id="a source is no object",
        ),
        pytest.param(
            {"_claim_sources": {"src": {"endpoint": 7}}},
            "oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field "
            "claimSource._claim_sources.endpoint of type string",
            id="no URL",
        ),
    ],
)
async def test_invalid_sources_are_refused(tmp_path: Path, values: dict[str, Any], text: str) -> None:
    async with claims(tmp_path) as c:
        assert await fault(c.issuers, c.issuer.token(**values)) == f"oidc: verify token: {text}"


async def test_an_error_status_of_the_endpoint_is_reported(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        text = 'while getting distributed claim "groups": error while getting distributed claim JWT: 404 Not Found'
        assert await fault(c.issuers, c.token()) == COULD_NOT + text
        c.publish("nonsense")
        text = f'getting untrusted issuer from endpoint {c.url}/claims failed for claim "groups": malformed token'
        assert await fault(c.issuers, c.token()) == COULD_NOT + text
        c.publish(c.issuer.token())
        text = f'jwt returned by distributed claim endpoint "{c.url}/claims" did not contain claim: groups'
        assert await fault(c.issuers, c.token()) == COULD_NOT + text


async def test_distributed_claims_must_be_valid_now_for_this_audience(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        c.publish(c.issuer.token(SECOND, "2", groups=["a"]))
        assert "verify distributed claim token: failed to verify signature" in await fault(c.issuers, c.token())
        c.publish(c.issuer.token(aud="others", groups=["a"]))
        text = 'verify distributed claim token: oidc: expected audience "sampan" got ["others"]'
        assert await fault(c.issuers, c.token()) == COULD_NOT + text
        c.publish(c.issuer.token(exp=1, groups=["a"]))
        assert "oidc: token is expired" in await fault(c.issuers, c.token())


async def test_an_unreachable_endpoint_is_reported_with_the_error_text_of_go(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        text = 'while getting distributed claim "groups": Get "https://127.0.0.1:1/x": '
        refused = await fault(c.issuers, c.token(endpoint="https://127.0.0.1:1/x"))
        assert refused == f"{COULD_NOT}{text}dial tcp 127.0.0.1:1: connect: connection refused"


async def test_discovery_of_a_broken_issuer_is_not_repeated_at_once(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        url = f"{c.url}/nobody"
        c.publish(c.issuer.token(iss=url, groups=["a"]))
        text = f'verifying untrusted issuer {url} failed: verifier not initialized for issuer: "{url}"'
        for _ in range(2):
            assert await fault(c.issuers, c.token()) == COULD_NOT + text
        assert c.issuer.server.requested.count(f"/nobody/{WELL_KNOWN}") == 1


async def test_expressions_fetch_nothing(tmp_path: Path) -> None:
    async with claims(tmp_path) as c:
        issuers = await c.issuer.believers({**PLAIN, "groups": {"expression": "has(claims.groups) ? ['x'] : ['none']"}})
        assert (await known(issuers, c.token())).user.groups == ("none",)

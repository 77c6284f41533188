"""Service accounts and their tokens, for tests: a server that issues tokens, by a clock of the test's own."""

import datetime
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import jwt

from sampan.core.tokens.keys import SigningKey, make_signing_key
from sampan.registry.cluster import Cluster
from sampan.server.admission.settings import AdmissionSettings
from sampan.server.authentication.bootstrap_token import BootstrapTokens
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.discovery import IssuerDiscovery
from sampan.server.authentication.service_account.issuer import IssuePolicy, TokenIssuer
from sampan.server.authentication.service_account.tokens import ServiceAccountTokens
from sampan.server.authentication.token_service import TokenService
from sampan.server.post_start_hooks.legacy_token_tracking import LastUse
from sampan.storage.store import Store
from tests.server.cluster import Api, ApiResponse, served

ISSUER = "https://issuer.example"
KEY = make_signing_key()
MASTERS = {"authorization": "Bearer master-token"}


class Objects:
    """Objects of the core group for authenticators that need no server: an `ObjectReader`."""

    def __init__(self, *objects: tuple[str, dict[str, Any]]) -> None:
        """Each with its resource."""
        self._objects = {
            (resource, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): obj for resource, obj in objects
        }

    def get(self, group: str, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        """One object, or None."""
        return self._objects.get((resource, namespace, name))

    async def fresh(self, group: str, resource: str) -> None:
        """Do nothing: there is no other server."""

    def list(self, group: str, resource: str, namespace: str = "") -> list[dict[str, Any]]:
        """None."""
        return []


class Clock:
    """Shows what it is set to."""

    def __init__(self) -> None:
        self.instant = datetime.datetime(2026, 6, 1, 12, tzinfo=datetime.UTC)

    def now(self) -> datetime.datetime:
        """The present instant."""
        return self.instant

    def seconds(self) -> float:
        """Return the present time in seconds since 1970."""
        return self.instant.timestamp()

    def pass_s(self, seconds: float) -> None:
        """Let time pass."""
        self.instant += datetime.timedelta(seconds=seconds)


@dataclass
class Accounts:
    """A server with the service account `default/robot`."""

    api: Api
    clock: Clock
    tokens: ServiceAccountTokens
    issuer: TokenIssuer

    async def request(self, spec: dict[str, Any] | None = None, **metadata: str) -> ApiResponse:
        """Request a token of the robot."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec or {}}
        if metadata:
            body["metadata"] = metadata
        return await self.api.post("/api/v1/namespaces/default/serviceaccounts/robot/token", body)

    async def token(self, spec: dict[str, Any] | None = None) -> str:
        """A token of the robot."""
        response = await self.request(spec)
        assert response.code == 201, response.body
        token: str = response.body["status"]["token"]
        return token

    async def review(self, token: str, *audiences: str) -> Any:
        """The status of a TokenReview."""
        spec: dict[str, Any] = {"token": token}
        if audiences:
            spec["audiences"] = list(audiences)
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        return (await self.api.create("/apis/authentication.k8s.io/v1/tokenreviews", body))["status"]

    async def create(self, resource: str, obj: dict[str, Any], namespace: str = "default") -> Any:
        """Create an object of the core group."""
        place = f"namespaces/{namespace}/" if namespace else ""
        return await self.api.create(f"/api/v1/{place}{resource}", obj)


@asynccontextmanager
async def accounts(
    policy: IssuePolicy | None = None,
    key: SigningKey = KEY,
    store: Store | None = None,
    *,
    admission: AdmissionSettings | None = None,
) -> AsyncIterator[Accounts]:
    """Ends with the block. On a `store` that is given the robot may be there already."""
    clock, issuer = Clock(), TokenIssuer(ISSUER, key, policy)
    made: list[ServiceAccountTokens] = []

    def identity(cluster: Cluster) -> TokenService:
        cluster.clock = clock
        keys, counts = [key.verifying], TokenCounts()
        tokens = ServiceAccountTokens(
            cluster.reader,
            keys,
            issuers=[ISSUER],
            api_audiences=["api"],
            counts=counts,
            now=clock.seconds,
            note_use=LastUse(cluster).note,
        )
        made.append(tokens)
        discovery = IssuerDiscovery(ISSUER, keys, lambda: "127.0.0.1:6443")
        bootstrap = BootstrapTokens(cluster.reader, clock.seconds)
        return TokenService([tokens, bootstrap], ("api",), issuer, discovery, counts)

    async with served(store, identity=identity, admission=admission) as api:
        robot = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        assert (await api.post("/api/v1/namespaces/default/serviceaccounts", robot)).code in (201, 409)
        yield Accounts(api, clock, made[0], issuer)


def claims_of(token: str) -> Any:
    """Return the claims of a token."""
    return jwt.decode(token, options={"verify_signature": False})

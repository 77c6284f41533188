"""`Registry`: images of a registry, by the distribution API. It needs neither Docker nor root.

Source: distribution-spec spec.md (v1.1).
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urljoin

from sampan.oci.authorization import authorize
from sampan.oci.blob_store import BlobStore
from sampan.oci.credentials import RegistryCredentials, credentials_for
from sampan.oci.descriptor import INDEXES, MANIFESTS, Descriptor, digest_of
from sampan.oci.errors import OciError, RegistryError
from sampan.oci.http_exchange import HttpExchange, RegistryResponse
from sampan.oci.reference import DOCKER_HUB, Reference

_DOCKER_HUB_SERVER: Final = "registry-1.docker.io"
_ACCEPT: Final = ", ".join(sorted(INDEXES | MANIFESTS))
_MANIFEST_BYTES_MAX: Final = 4 << 20
_ERROR_BYTES_MAX: Final = 64 << 10
_PIECE_BYTES: Final = 8 << 20
"""Size of an uploaded piece of a layer."""


class Registry:
    """Images of one registry. `credentials`: how to find those for a host; they are read once, when needed."""

    def __init__(
        self,
        exchange: HttpExchange,
        host: str,
        credentials: Callable[[str], RegistryCredentials | None] = credentials_for,
    ) -> None:
        self._exchange = exchange
        self.host = host
        server = _DOCKER_HUB_SERVER if host == DOCKER_HUB else host
        self._server = f"{exchange.base_of(server)}/"
        self._base = f"{self._server}v2"
        self._find_credentials = credentials
        self._credentials: RegistryCredentials | None = None
        self._has_credentials = False
        self._authorizations: dict[str, str] = {}

    async def manifest(self, reference: Reference) -> tuple[Descriptor, bytes]:
        """Return a manifest or index with its descriptor. Raises `OciError`; `RegistryError` 404 if it is absent."""
        url = f"{self._base}/{reference.repository}/manifests/{reference.target}"
        response = await self._send("GET", url, _pull(reference.repository), {"accept": _ACCEPT})
        content = await self._body(response, (200,), f"{reference} cannot be read", _MANIFEST_BYTES_MAX)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip()
        found = Descriptor.of(content, media_type)
        if reference.digest and found.digest != reference.digest:
            raise OciError(f"{reference}: the registry sent another manifest, {found.digest}")
        return found, content

    async def fetch(self, reference: Reference, blob: Descriptor, store: BlobStore) -> None:
        """Copy a blob of a repository into a store, unless it is there. Raises `OciError`."""
        if blob.digest in store:
            return
        url = f"{self._base}/{reference.repository}/blobs/{blob.digest}"
        response = await self._send("GET", url, _pull(reference.repository))
        if response.status != 200:
            await self._body(response, (200,), f"blob {blob.digest} of {reference} cannot be read")
        await store.add_stream(blob, response.chunks(), str(reference))

    async def has(self, reference: Reference, blob: Descriptor) -> bool:
        """Return whether a repository has a blob. Raises `RegistryError`."""
        url = f"{self._base}/{reference.repository}/blobs/{blob.digest}"
        response = await self._send("HEAD", url, _push(reference.repository))
        await response.read(_ERROR_BYTES_MAX)
        if response.status in (200, 404):
            return response.status == 200
        raise RegistryError(f"{reference} cannot be pushed: {self._reason(response.status, b'')}", response.status)

    async def push_blob(
        self,
        reference: Reference,
        blob: Descriptor,
        store: BlobStore,
        *,
        mount_from: str = "",
        fetch: Callable[[Descriptor], Awaitable[None]] | None = None,
    ) -> bool:
        """Upload a blob, unless the repository has it. Return whether its content was sent.

        `mount_from`: repository of this registry that has the blob; the registry then copies it. `fetch` puts the blob
        into the store before it is sent. Raises `OciError`.
        """
        if await self.has(reference, blob):
            return False
        scopes = [_push(reference.repository)]
        query = ""
        if mount_from and mount_from != reference.repository:
            scopes.append(_pull(mount_from))
            query = f"?{urlencode({'mount': blob.digest, 'from': mount_from})}"
        start = f"{self._base}/{reference.repository}/blobs/uploads/{query}"
        response = await self._send("POST", start, " ".join(scopes))
        failure = f"layer {blob.digest} cannot be pushed to {reference}"
        await self._body(response, (201, 202), failure)
        if response.status == 201:
            return False
        if fetch is not None:
            await fetch(blob)
        await self._upload(_location(response, start), reference, blob, store, failure)
        return True

    async def push_manifest(self, reference: Reference, content: bytes, media_type: str) -> str:
        """Upload a manifest or an index under a tag or its digest, and return its digest. Raises `RegistryError`."""
        target = reference.tag or digest_of(content)
        url = f"{self._base}/{reference.repository}/manifests/{target}"
        response = await self._send("PUT", url, _push(reference.repository), {"content-type": media_type}, content)
        await self._body(response, (200, 201, 202), f"the manifest cannot be pushed to {reference}")
        return digest_of(content)

    async def _upload(self, url: str, reference: Reference, blob: Descriptor, store: BlobStore, failure: str) -> None:
        scope = _push(reference.repository)
        sent = 0
        with store.path(blob.digest).open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                headers = {
                    "content-type": "application/octet-stream",
                    "content-range": f"{sent}-{sent + len(piece) - 1}",
                }
                # A piece that arrived must not be sent again: its range would be refused.
                response = await self._send("PATCH", url, scope, headers, piece, replay=False)
                await self._body(response, (201, 202, 204), failure)
                url = _location(response, url)
                sent += len(piece)
        separator = "&" if "?" in url else "?"
        closing = f"{url}{separator}digest={quote(blob.digest, safe='')}"
        response = await self._send("PUT", closing, scope, replay=False)
        await self._body(response, (201, 204), failure)

    async def _send(
        self,
        method: str,
        url: str,
        scope: str,
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        *,
        replay: bool = True,
    ) -> RegistryResponse:
        """Send a request with the authorization for a scope; get a new one if the registry demands it.

        The place of an upload may be on another server, which gets no authorization.
        """
        if not url.startswith(self._server):
            return await self._exchange.send(method, url, headers, body, replay=replay)
        for is_last in (False, True):
            known = self._authorizations.get(scope)
            sent = {**headers, "authorization": known} if known else headers
            response = await self._exchange.send(method, url, sent, body, replay=replay)
            challenge = response.headers.get("www-authenticate", "")
            if response.status != 401 or not challenge or is_last:
                return response
            await response.aclose()
            credentials = self._own_credentials()
            self._authorizations[scope] = await authorize(self._exchange, challenge, scope, credentials, self.host)
        raise AssertionError("the second try returns")

    def _own_credentials(self) -> RegistryCredentials | None:
        if not self._has_credentials:
            self._credentials = self._find_credentials(self.host)
            self._has_credentials = True
        return self._credentials

    async def _body(
        self, response: RegistryResponse, expected: Iterable[int], failure: str, bytes_max: int = _ERROR_BYTES_MAX
    ) -> bytes:
        if response.status in expected:
            return await response.read(bytes_max)
        content = await response.read(_ERROR_BYTES_MAX)
        raise RegistryError(f"{failure}: {self._reason(response.status, content)}", response.status)

    def _reason(self, status: int, content: bytes) -> str:
        """Return the registry's own reason; without one, the meaning of the status."""
        if status == 401:
            return f"{self.host} refuses the login (401): docker login {self.host}"
        if found := error_message(content):
            return f"{self.host} responded {status}: {found}"
        meaning = {403: "access denied", 404: "not found", 429: "too many requests"}.get(status, "no reason given")
        return f"{self.host} responded {status}: {meaning}"


def error_message(content: bytes) -> str:
    """Return the first error in a response of a registry, in one line; empty if there is none."""
    try:
        errors: Any = json.loads(content)["errors"]
        first = errors[0]
        text = str(first.get("message") or first.get("code") or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return " ".join("".join(each for each in text if each.isprintable() or each == " ").split())[:200]


def _location(response: RegistryResponse, url: str) -> str:
    location = response.headers.get("location", "")
    if not location:
        raise RegistryError(f"{url}: the registry named no place for the upload", response.status)
    return urljoin(url, location)


def _pull(repository: str) -> str:
    return f"repository:{repository}:pull"


def _push(repository: str) -> str:
    return f"repository:{repository}:pull,push"

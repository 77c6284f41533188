"""No path, method, header or encoding reaches an object that its sender has no right to.

jane may do everything with the ConfigMaps of namespace `mine`, or with one of them, and nothing else. Every object that
is not hers holds a mark; thousands of twisted requests are sent, no answer may hold a mark, and no write may change
anything but hers.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import orjson
import pytest

from sampan.core.errors import StatusError
from sampan.server.request import Response
from sampan.server.request_info import parse_target
from tests.server.authorization.caches import RBAC, binding, role, rule, user
from tests.server.cluster import Api, served
from tests.server.frame import JANE

MARK = "not-for-jane"
MINE = "/api/v1/namespaces/mine/configmap"
REQUESTS = 1500
PATHS = [
    "/api/v1/namespaces/mine/configmaps",
    "/api/v1/namespaces/mine/configmaps/one",
    "/api/v1/namespaces/theirs/configmaps",
    "/api/v1/namespaces/theirs/configmaps/one",
    "/api/v1/namespaces/theirs/secrets/one",
    "/api/v1/namespaces/mine/secrets/one",
    "/api/v1/namespaces/mine/secrets",
    "/api/v1/configmaps",
    "/api/v1/secrets",
    "/api/v1/namespaces/theirs",
    "/api/v1/namespaces/mine/status",
    "/api/v1/namespaces/mine/namespaces",
    "/api/v1/namespaces/mine/namespaces/theirs",
    "/api/v1/watch/namespaces/mine/namespaces/theirs",
    "/api/v1/watch/configmaps",
    "/api/v1/watch/namespaces/theirs/configmaps",
    "/api/v1/watch/namespaces/mine/configmaps/one",
    "/api/v1/namespaces/mine/configmaps/one/status",
    "/apis/apps/v1/namespaces/theirs/deployments/one/scale",
    f"/apis/{RBAC}/v1/clusterroles",
]
QUERIES = [
    "",
    "",
    "",
    "?watch=true",
    "?watch=1&timeoutSeconds=1",
    "?fieldSelector=metadata.name=one",
    "?fieldSelector=metadata.name=one,metadata.name=two",
    "?fieldSelector=metadata.name=one&fieldSelector=metadata.name=two",
    "?fieldSelector=metadata.name=one&fieldSelector=",
    "?fieldSelector=metadata.name%3D%3Done&limit=1",
    "?fieldSelector=metadata.name=one%2Cmetadata.namespace!=x&watch=true",
    "?fieldSelector=metadata.name=one&watch=true&resourceVersion=0",
    "?fieldSelector=metadata.name=%5C,metadata.name=one",
    "?fieldSelector=metadata.name!=one",
    "?FieldSelector=metadata.name=one",
    "?fieldSelector=metadata.namespace=theirs",
    "?labelSelector=of=jane",
    "?namespace=theirs",
    "?dryRun=All",
    "?pretty=true",
    "?resourceVersion=0",
    "?fieldManager=x&force=true",
    "?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJ0aGVpcnMvIn0",
]
METHODS = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get", "TRACE", "PROPFIND"]
HEADERS = [
    {},
    {},
    {"x-http-method-override": "DELETE"},
    {"x-http-method": "PUT"},
    {"x-original-url": "/api/v1/secrets"},
    {"x-rewrite-url": "/api/v1/secrets"},
    {"x-forwarded-prefix": "/api/v1/namespaces/theirs"},
    {"impersonate-user": "admin", "impersonate-group": "system:masters"},
    {"x-remote-user": "admin", "x-remote-group": "system:masters"},
    {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
    {"accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
]
TYPES = [
    "application/json",
    "application/merge-patch+json",
    "application/json-patch+json",
    "application/apply-patch+yaml",
]
BODIES: list[Any] = [
    {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "one", "namespace": "theirs"}, "data": {"a": "b"}},
    {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "two", "namespace": "mine"}},
    {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"generateName": "x", "namespace": ""}},
    {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "one", "namespace": "mine"}},
    {"metadata": {"name": "one", "namespace": "theirs", "labels": {"x": "y"}}},
    [{"op": "replace", "path": "/metadata/namespace", "value": "theirs"}],
    [{"op": "copy", "from": "/metadata", "path": "/data"}],
    {"kind": "DeleteOptions", "apiVersion": "v1"},
]


@asynccontextmanager
async def cluster(names: list[str]) -> AsyncIterator[tuple[Api, Api]]:
    """The administrator, and jane, whose rights are limited to ConfigMaps of these names (if any)."""
    async with served() as admin:
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("maps", rule("*", "core", "configmaps", names)))
        for name in ("mine", "theirs"):
            labels = {"mark": MARK} if name == "theirs" else {}
            await admin.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
            shown = "of-jane" if name == "mine" else MARK
            await admin.create(
                f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "one", "labels": {"of": shown}}}
            )
            await admin.create(
                f"/api/v1/namespaces/{name}/secrets", {"metadata": {"name": "one", "labels": {"of": MARK}}}
            )
        if names:
            await admin.create(f"{MINE}s", {"metadata": {"name": "two", "labels": {"of": MARK}}})
        hers = binding("jane", "maps", user("jane"), namespace="mine")
        await admin.create(f"/apis/{RBAC}/v1/namespaces/mine/rolebindings", hers)
        yield admin, Api(admin.server, JANE)


def twisted(random: Random, path: str) -> str:
    """A path with some of the usual tricks done to it."""
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        at = random.randrange(len(path))
        slash = random.choice([index for index, char in enumerate(path) if char == "/"] or [0])
        path = random.choice(
            (
                path[:slash] + "//" + path[slash + 1 :],
                path[:slash] + "/./" + path[slash + 1 :],
                path[:slash] + "/x/../" + path[slash + 1 :],
                path[:slash] + "/../theirs/" + path[slash + 1 :],
                path[:slash] + "%2f" + path[slash + 1 :],
                path[:slash] + "%2F.." + path[slash:],
                path[:at] + f"%{ord(path[at]):02x}" + path[at + 1 :],
                path[:at] + path[at].swapcase() + path[at + 1 :],
                path + "/",
                path + "/..",
                path + "%2f..%2ftheirs",
                path + "%00",
                path + ";x=y",
                path + "/status",
                path.replace("mine", "mine/configmaps/../../theirs"),
                path.replace("/v1/", "/v1/watch/", 1),
                path.replace("/v1/", "/v1/proxy/", 1),
                path.replace("mine", "%6dine"),
                path.replace("one", "..%2f..%2ftheirs%2fconfigmaps%2fone"),
                "/" + path,
                "http://elsewhere" + path,
            )
        )
    return path


async def shown(response: Response) -> bytes:
    """Return the content of a response: body, headers, or the first chunk of its stream."""
    reported = response.body + (response.gzip_body or b"") + b"".join(value for _, value in response.headers)
    stream = response.stream
    if stream is None:
        return reported
    try:
        async with asyncio.timeout(0.002):
            reported += await anext(stream)
    except (TimeoutError, StopAsyncIteration):
        pass
    finally:
        await stream.aclose()  # type: ignore[attr-defined]  # every stream of ours is a generator
        if response.finished is not None:
            response.finished()
    return reported


async def stored(admin: Api, hers: str) -> dict[str, bytes]:
    """All there is, but what is jane's."""
    found = await admin.cluster.store.range("/", "0")
    return {row.key: row.value for row in found.items if hers not in row.key}


@pytest.mark.parametrize("names", [[], ["one"]], ids=["all ConfigMaps", "one ConfigMap"])
@pytest.mark.parametrize("seed", range(3))
async def test_no_trick_reaches_what_is_not_hers(seed: int, names: list[str]) -> None:
    random = Random(seed)
    responses: dict[int, int] = {}
    hers = "/configmaps/mine/" + "".join(names)
    async with cluster(names) as (admin, jane):
        before = await stored(admin, hers)
        for number in range(REQUESTS):
            if number % 20 == 0:
                await admin.post(f"{MINE}s", {"metadata": {"name": "one"}})
            method, body = random.choice(METHODS), random.choice(BODIES)
            target = twisted(random, random.choice(PATHS)) + random.choice(QUERIES)
            headers = {**random.choice(HEADERS), "content-type": random.choice(TYPES)}
            content = b"" if method in ("GET", "HEAD", "get") else orjson.dumps(body)
            try:
                response = await jane.client.request(method, target, content, headers)
            except StatusError as error:
                responses[error.code] = responses.get(error.code, 0) + 1
                continue
            responses[response.status] = responses.get(response.status, 0) + 1
            assert MARK.encode() not in await shown(response), (method, target, headers)
        assert await stored(admin, hers) == before
    assert responses[200] > REQUESTS // 300, responses
    assert responses[403] > REQUESTS // 10, responses
    assert responses.get(500, 0) < REQUESTS // 20, responses


@pytest.mark.parametrize("path", PATHS)
def test_a_path_means_the_same_however_it_is_escaped(path: str) -> None:
    plain = parse_target("GET", path.encode()).info
    escaped = "".join(char if char == "/" else f"%{ord(char):02X}" for char in path)
    assert parse_target("GET", escaped.encode()).info == plain

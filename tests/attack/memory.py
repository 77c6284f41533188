"""Large requests that the server refuses, sent again and again: they must leave no memory behind."""

import asyncio
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.attack.report import Count
from tests.attack.server import Attacked
from tests.attack.wire import Client

REPEATS = 200
REST_S = 120.0
GROWTH_MB_MAX = 100.0
SIZE_BYTES = 3_000_000
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
JSON = "application/json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that is refused with one of these codes."""

    name: str
    codes: tuple[int, ...]
    method: str
    target: str
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None


def _object(kind: str, **fields: object) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": kind, "metadata": {"name": "big"}, **fields}).encode()


def _json_bodies(size: int) -> Iterator[Refused]:
    many = {f"k{index}": "v" for index in range(size // 16)}
    yield Refused("invalid JSON", (400,), "POST", MAPS, b'{"a":"' + b"x" * size)
    yield Refused("invalid JSON, wide", (400,), "POST", MAPS, b'{"data":{' + b'"a":"b",' * (size // 8))
    yield Refused("deep JSON", (400,), "POST", MAPS, b'{"a":' * (size // 6))
    yield Refused("invalid keys", (422,), "POST", MAPS, _object("ConfigMap", data={f"/{k}": "v" for k in many}))
    yield Refused("too large to store", (413, 422), "POST", MAPS, _object("ConfigMap", data=many))
    yield Refused("wrong types", (400,), "POST", MAPS, _object("ConfigMap", data=dict.fromkeys(many, 1)))
    yield Refused("wrong kind", (400,), "POST", MAPS, _object("Secret", data=many))
    yield Refused("unknown fields", (400, 422), "POST", f"{MAPS}?fieldValidation=Strict", _object("ConfigMap", **many))
    containers = [{"name": f"c{index}", "image": ""} for index in range(size // 40)]
    yield Refused("bad containers", (422,), "POST", PODS, _object("Pod", spec={"containers": containers}))


def _other_bodies(size: int) -> Iterator[Refused]:
    yaml = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n"
    lines = b"".join(b"  k%d: v\n" % index for index in range(size // 14))
    yield Refused("invalid YAML", (400,), "POST", MAPS, yaml + lines + b"\t{", "application/yaml")
    yield Refused("YAML too large to store", (413, 422), "POST", MAPS, yaml + lines, "application/yaml")
    bomb = gzip.compress(_object("ConfigMap", data={"a": "x" * (20 * size)}))
    yield Refused("gzip bomb", (400, 413, 415), "POST", MAPS, bomb, headers={"Content-Encoding": "gzip"})
    protobuf = "application/vnd.kubernetes.protobuf"
    yield Refused("bad protobuf", (400,), "POST", MAPS, b"k8s\x00" + b"\x0a\x01a" * (size // 3), protobuf)
    yield Refused("bad CBOR", (400, 415), "POST", MAPS, b"\x9f" * size, "application/cbor")
    yield Refused("other type", (415,), "POST", MAPS, b"x" * size, "text/plain")
    yield Refused("body above the limit", (413,), "POST", MAPS, b" " * (4 << 20))
    yield Refused("no credentials", (403,), "POST", MAPS, b"x" * size, token="")
    yield Refused("bad token", (401,), "POST", MAPS, b"x" * size, token="x" * (size // 6))
    yield Refused("no such resource", (404,), "POST", "/apis/x/v1/y", b"x" * size)
    yield Refused("wrong method", (405,), "PUT", MAPS, b"x" * size)


def _patches(size: int) -> Iterator[Refused]:
    patched = "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt"
    system = "/api/v1/namespaces/kube-system"
    many = {f"/{index}": "v" for index in range(size // 16)}
    tests = [{"op": "test", "path": "/metadata/name", "value": "kube-system"}] * min(9_000, size // 60)
    fails = json.dumps([*tests, {"op": "test", "path": "/a", "value": 1}]).encode()
    yield Refused("JSON patch that fails", (422,), "PATCH", system, fails, "application/json-patch+json")
    yield Refused(
        "JSON patch too long",
        (413, 422),
        "PATCH",
        system,
        b"[" + b"{}," * (size // 3) + b"{}]",
        "application/json-patch+json",
    )
    for kind in ("merge-patch+json", "strategic-merge-patch+json"):
        body = json.dumps({"metadata": {"labels": many}}).encode()
        yield Refused(kind, (404, 413, 422), "PATCH", system, body, f"application/{kind}")
    applied = _object("ConfigMap", data=many)
    yield Refused(
        "apply", (400, 413, 422), "PATCH", f"{MAPS}/big?fieldManager=a", applied, "application/apply-patch+yaml"
    )
    yield Refused("patch of what is absent", (404,), "PATCH", patched + "x", applied, "application/merge-patch+json")


def _heads(size: int) -> Iterator[Refused]:
    terms = "%2C".join(f"a{index}" for index in range(size // 40))
    yield Refused("long selector", (400, 414, 431), "GET", f"{MAPS}?labelSelector={terms}%2C%28")
    yield Refused("long path", (404, 414, 431), "GET", f"{MAPS}/" + "a" * (size // 4))
    yield Refused("different paths", (404,), "GET", f"{MAPS}/" + "a" * 1000 + "{}")
    yield Refused("different agents", (404,), "GET", f"{MAPS}/none", headers={"User-Agent": "a" * (size // 30) + "{}"})
    yield Refused("different tokens", (401,), "GET", MAPS, token="x" * (size // 30) + "{}")
    yield Refused("different users", (403,), "GET", MAPS, token="token-{}")
    yield Refused("long continue", (400, 410), "GET", f"{MAPS}?continue=" + "x" * (size // 4))


def refused_requests(size: int = SIZE_BYTES) -> list[Refused]:
    """Return all classes, with bodies of about this size."""
    return [*_json_bodies(size), *_other_bodies(size), *_patches(size), *_heads(size)]


async def _send(client: Client, request: Refused, index: int) -> int:
    def filled(text: str) -> str:
        return text.replace("{}", str(index))

    reply = await client.request(
        request.method,
        filled(request.target),
        request.body,
        request.content_type,
        {name: filled(value) for name, value in request.headers.items()},
        None if request.token is None else filled(request.token),
    )
    return reply.status


async def retained(attacked: Attacked, repeats: int = REPEATS, rest_s: float = REST_S) -> Count:
    """Send each class so often, and compare what the server holds after a rest with what it held before."""
    count = Count("memory of refused requests")
    begun = attacked.server.resident_mb()
    async with attacked.admin() as client:
        for request in refused_requests():
            before, codes = attacked.server.resident_mb(), Counter[int]()
            for index in range(repeats):
                codes[await _send(client, request, index)] += 1
            after = attacked.server.resident_mb()
            print(f"    {request.name:28} {dict(codes)} {before:.0f} to {after:.0f} MB", flush=True)
            grown = f"grew from {before:.0f} to {after:.0f} MB" if after - before > GROWTH_MB_MAX else ""
            count.note(request.name, True, grown or ("" if set(codes) <= set(request.codes) else f"answered {codes}"))
    await asyncio.sleep(rest_s)
    rested = attacked.server.resident_mb()
    print(f"    after {rest_s:g} s: {begun:.0f} to {rested:.0f} MB", flush=True)
    count.note("rest", False, f"keeps {rested:.0f} MB" if rested - begun > GROWTH_MB_MAX else "")
    return count

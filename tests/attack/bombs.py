"""Class c: small or odd requests that may cost a server much. Each is refused or served, and costs little."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.loop_fuzz.probe import Clocks

from tests.attack.report import Count
from tests.attack.server import Attacked

CPU_MS_MAX = 3000.0
"""Processor time of the server for one request, also in threads."""
MAPS = "/api/v1/namespaces/mine/configmaps"


@dataclass(frozen=True, slots=True)
class Bomb:
    """A request, and whether it must be refused."""

    name: str
    method: str
    target: str
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    token: str | None = None
    refused: bool = True


def _encoded(value: str) -> str:
    return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


NONE, HMAC, RSA = (_encoded(f'{{"alg":"{name}"}}') for name in ("None", "HS256", "RS256"))
FAR = '{"alg":"RS256","jku":"https://127.0.0.1:1/","kid":"../../x"}'
CRITICAL = '{"alg":"RS256","crit":["b64"],"b64":false}'


def _tokens() -> Iterator[Bomb]:
    head, claims = (
        _encoded('{"alg":"none","typ":"JWT"}'),
        _encoded('{"sub":"system:serviceaccount:kube-system:default"}'),
    )
    deep = _encoded('{"a":' * 100_000)
    numbers = _encoded('{"exp":' + "9" * 100_000 + "}")
    for name, token in (
        ("alg none", f"{head}.{claims}."),
        ("alg None", f"{NONE}.{claims}."),
        ("HMAC", f"{HMAC}.{claims}.{_encoded('x' * 32)}"),
        ("deep header", f"{deep}.{claims}.x"),
        ("deep claims", f"{RSA}.{deep}.x"),
        ("huge number", f"{RSA}.{numbers}.x"),
        ("key by address", f"{_encoded(FAR)}.{claims}.x"),
        ("critical headers", f"{_encoded(CRITICAL)}.{claims}.x"),
        ("dots", "." * 500_000),
        ("bootstrap", "abcdef." + "a" * 300_000),
        ("long signature", f"{head}.{claims}." + "A" * 700_000),
    ):
        yield Bomb(f"token: {name}", "GET", "/api/v1/namespaces", token=token)


def _continuations() -> Iterator[Bomb]:
    """Forged continue tokens must not list other objects than those of the request."""
    for start in (
        "../theirs/",
        "../../secrets/theirs/",
        "../../secrets/theirs/one\0",
        "/registry/secrets/theirs/one",
        "theirs/one",
        "\0",
        "..",
        "./../../",
        "x" * 100_000,
    ):
        for revision in (0, 1, -1, 2**63 - 1, 2**64):
            value = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start})
            yield Bomb(
                f"continue: {start[:20]!r} {revision}",
                "GET",
                f"{MAPS}?limit=1&continue={_encoded(value)}",
                refused=False,
            )
    for text in ("[" * 50_000, '{"v":' * 20_000, "1" * 100_000, '{"v":"meta.k8s.io/v1","rv":1e999,"start":"a"}'):
        yield Bomb(f"continue: {text[:8]}", "GET", f"{MAPS}?continue={_encoded(text)}")


def _parameters() -> Iterator[Bomb]:
    for name, query in (
        ("limit", "limit=" + "9" * 5000),
        ("negative limit", "limit=-9223372036854775808"),
        ("revision", "resourceVersion=" + "9" * 5000),
        ("exact revision", "resourceVersion=18446744073709551615&resourceVersionMatch=Exact"),
        ("many", "&".join(f"limit={index}" for index in range(90_000))),
        ("many dry runs", "&".join(["dryRun=All"] * 80_000)),
        ("semicolons", ";" * 900_000),
        ("percent", "labelSelector=" + "%25" * 300_000),
        ("parentheses", "labelSelector=a+in+" + "(" * 100_000),
        ("commas", "labelSelector=" + "," * 800_000),
        ("escaped field", "fieldSelector=metadata.name=" + "%5C" * 200_000),
        ("spaces", "labelSelector=" + "+" * 900_000),
    ):
        yield Bomb(f"parameter: {name}", "GET", f"{MAPS}?{query}", refused=False)


def _bodies() -> Iterator[Bomb]:
    merge, patch = "application/merge-patch+json", "application/json-patch+json"
    anchors = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)
    )
    yield Bomb("YAML: billion laughs", "POST", MAPS, anchors, "application/yaml")
    yield Bomb(
        "YAML: merge keys",
        "POST",
        MAPS,
        b"a: &a {b: c}\n" + b"d: {<<: [" + b"*a," * 200_000 + b"]}",
        "application/yaml",
    )
    yield Bomb("YAML: tags", "POST", MAPS, b"!!python/object/apply:os.system ['true']", "application/yaml")
    yield Bomb("YAML: sexagesimal", "POST", MAPS, b"data: {a: " + b"1:" * 300_000 + b"1}", "application/yaml")
    yield Bomb("YAML: long key", "POST", MAPS, b"? " + b"[" * 5_000 + b"]" * 5_000, "application/yaml")
    yield Bomb("YAML: documents", "POST", MAPS, b"---\n" * 500_000, "application/yaml")
    yield Bomb("JSON: number", "POST", MAPS, b'{"data":{"a":1e' + b"9" * 500_000 + b"}}")
    yield Bomb("JSON: digits", "POST", MAPS, b'{"data":{"a":' + b"9" * 1_000_000 + b"}}")
    yield Bomb("JSON: spaces", "POST", MAPS, b" " * 3_000_000)
    yield Bomb("JSON: surrogates", "POST", MAPS, b'{"a":"' + b"\\ud800" * 400_000 + b'"}')
    yield Bomb("protobuf: groups", "POST", MAPS, b"k8s\0" + b"\x0b" * 1_000_000, "application/vnd.kubernetes.protobuf")
    yield Bomb("protobuf: nesting", "POST", MAPS, b"k8s\0" + _nested(4000), "application/vnd.kubernetes.protobuf")
    yield Bomb("CBOR: nesting", "POST", MAPS, b"\xd9\xd9\xf7" + b"\x81" * 1_000_000, "application/cbor")
    yield Bomb("merge patch: nesting", "PATCH", f"{MAPS}/one", b'{"a":' * 400_000, merge)
    doubling = [{"op": "add", "path": "/metadata/annotations", "value": {"a": "x" * 1000}}]
    doubling += [
        {"op": "copy", "from": "/metadata/annotations", "path": f"/metadata/annotations/k{i}"} for i in range(60)
    ]
    yield Bomb("JSON patch: doubling", "PATCH", f"{MAPS}/one", json.dumps(doubling).encode(), patch)
    tilde = [{"op": "test", "path": "/" + "~1" * 500_000, "value": 1}]
    yield Bomb("JSON patch: tildes", "PATCH", f"{MAPS}/one", json.dumps(tilde).encode(), patch)


def _nested(depth: int) -> bytes:
    found = b""
    for _ in range(depth):
        size, head = len(found), b""
        while True:
            head += bytes(((size & 127) | (128 if size > 127 else 0),))
            size >>= 7
            if not size:
                break
        found = b"\x12" + head + found
    return found


def _heads() -> Iterator[Bomb]:
    for name, headers in (
        ("Accept weights", {"Accept": ",".join(f"a/b;q=0.{i}" for i in range(40_000))}),
        ("Accept tables", {"Accept": ",".join(["application/json;as=Table;v=v1;g=meta.k8s.io"] * 15_000)}),
        ("Accept-Encoding", {"Accept-Encoding": ",".join(["gzip;q=0.1"] * 80_000)}),
        ("traceparent", {"traceparent": "00-" + "a" * 800_000}),
        ("If-None-Match", {"If-None-Match": ",".join(['"a"'] * 200_000)}),
        ("Range", {"Range": "bytes=" + ",".join(f"{i}-{i}" for i in range(80_000))}),
        ("Expect", {"Expect": "100-continue" * 50_000}),
        ("Cookie", {"Cookie": "a=b;" * 200_000}),
        ("content type", {"Content-Type": "application/json;" + "a=b;" * 200_000}),
    ):
        yield Bomb(f"header: {name}", "GET", MAPS, headers=headers, refused=False)
    groups = {f"X-{index}": "a" for index in range(60_000)}
    yield Bomb("header: 60,000 names", "GET", MAPS, headers=groups, refused=False)
    impersonated = {"Impersonate-User": "a"} | {f"Impersonate-Extra-{index}": "a" for index in range(30_000)}
    yield Bomb("header: extras", "GET", MAPS, headers=impersonated)
    for path in ("/" * 900_000, "/a" * 400_000, "/%2e%2e" * 100_000, "/api/v1/namespaces/" + "a/" * 400_000):
        yield Bomb(f"path: {path[:20]}", "GET", path)


def bombs() -> list[Bomb]:
    """Return all of them."""
    return [*_tokens(), *_continuations(), *_parameters(), *_bodies(), *_heads()]


async def explode(attacked: Attacked, user: int = 0) -> Count:
    """Send each once, as a user with all rights on the ConfigMaps of namespace `mine`."""
    count, clocks = Count("c: bombs"), Clocks(attacked.server.pid)
    async with attacked.user(user) as client:
        for bomb in bombs():
            before = clocks.read_ms()[0]
            reply = await client.request(
                bomb.method, bomb.target, bomb.body, bomb.content_type, bomb.headers, bomb.token
            )
            cpu_ms = clocks.read_ms()[0] - before
            fault = ""
            future = reply.status == 504 and "Too large resource version" in reply.message
            if (reply.status >= 500 and not future) or (bomb.refused and reply.status < 400 and reply.status):
                fault = f"answered {reply.status}: {reply.message[:200]}"
            elif reply.status < 300 and (b"theirs" in reply.body or b'"Secret"' in reply.body):
                fault = f"shows what is not the user's: {reply.body[:300]!r}"
            elif cpu_ms > CPU_MS_MAX:
                fault = f"cost {cpu_ms:.0f} ms"
            count.note(bomb.name, reply.status >= 400, fault)
    return count

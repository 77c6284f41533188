"""The meaning of paths and methods."""

import pytest

from sampan.core.errors import StatusError
from sampan.server.request_info import TargetCache, parse_query, parse_target

CASES = [
    ("GET", "/api/v1/pods", ("list", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/namespaces/a/pods", ("list", "", "v1", "a", "pods", "", "")),
    ("GET", "/api/v1/namespaces/a/pods/p", ("get", "", "v1", "a", "pods", "", "p")),
    ("HEAD", "/api/v1/namespaces/a/pods/p", ("get", "", "v1", "a", "pods", "", "p")),
    ("GET", "/api/v1/namespaces/a/pods/p/log", ("get", "", "v1", "a", "pods", "log", "p")),
    ("GET", "/api/v1/namespaces/a/services/s/proxy/x/y", ("get", "", "v1", "a", "services", "proxy", "s")),
    ("GET", "/api/v1/namespaces", ("list", "", "v1", "", "namespaces", "", "")),
    ("GET", "/api/v1/namespaces/a", ("get", "", "v1", "a", "namespaces", "", "a")),
    ("PUT", "/api/v1/namespaces/a/status", ("update", "", "v1", "a", "namespaces", "status", "a")),
    ("PUT", "/api/v1/namespaces/a/finalize", ("update", "", "v1", "a", "namespaces", "finalize", "a")),
    ("POST", "/apis/apps/v1/namespaces/a/deployments", ("create", "apps", "v1", "a", "deployments", "", "")),
    ("PATCH", "/apis/apps/v1/namespaces/a/deployments/d", ("patch", "apps", "v1", "a", "deployments", "", "d")),
    ("DELETE", "/apis/apps/v1/namespaces/a/deployments/d", ("delete", "apps", "v1", "a", "deployments", "", "d")),
    (
        "DELETE",
        "/apis/apps/v1/namespaces/a/deployments",
        ("deletecollection", "apps", "v1", "a", "deployments", "", ""),
    ),
    ("GET", "/api/v1/pods?watch=true", ("watch", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/pods?watch=1", ("watch", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/pods?watch", ("watch", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/pods?watch=False", ("list", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/pods?watch=0", ("list", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/watch/pods", ("watch", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/watch/namespaces/a/pods/p", ("watch", "", "v1", "a", "pods", "", "p")),
    ("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dp", ("list", "", "v1", "", "pods", "", "p")),
    ("GET", "/api/v1/pods?fieldSelector=a=b,metadata.name==p", ("list", "", "v1", "", "pods", "", "p")),
    ("GET", "/api/v1/pods?fieldSelector=metadata.name!=p", ("list", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/pods?fieldSelector=metadata.name%3D..", ("list", "", "v1", "", "pods", "", "")),
    ("OPTIONS", "/api/v1/pods", ("", "", "v1", "", "pods", "", "")),
    ("GET", "/api/v1/namespaces/a/pods/", ("list", "", "v1", "a", "pods", "", "")),
]


@pytest.mark.parametrize(("method", "target", "expected"), CASES, ids=[f"{m} {t}" for m, t, _ in CASES])
def test_resource_paths(method: str, target: str, expected: tuple[str, ...]) -> None:
    info = parse_target(method, target.encode()).info
    assert info.is_resource
    found = (info.verb, info.group, info.version, info.namespace, info.resource, info.subresource, info.name)
    assert found == expected


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/healthz", "/x/y/z/w"]
)
def test_other_paths_are_not_resources(path: str) -> None:
    info = parse_target("GET", path.encode()).info
    assert (info.is_resource, info.verb, info.path) == (False, "get", path)


def test_a_watch_of_nothing_is_refused() -> None:
    with pytest.raises(StatusError) as caught:
        parse_target("GET", b"/api/v1/watch")
    assert caught.value.code == 500


@pytest.mark.parametrize("raw", [b"/a%", b"/a%2", b"/a%zz", b"nonsense", b"ftp://host/a"])
def test_malformed_targets_are_bad_requests(raw: bytes) -> None:
    with pytest.raises(StatusError) as caught:
        parse_target("GET", raw)
    assert caught.value.code == 400


def test_an_absolute_target_is_read_as_its_path() -> None:
    assert parse_target("GET", b"http://host:1/api/v1/pods?limit=1").path == "/api/v1/pods"


def test_escapes_are_decoded() -> None:
    target = parse_target("GET", b"/api/v1/namespaces/a/configmaps/caf%C3%A9")
    assert target.info.name == "café"


def test_selectors_are_kept_for_authorization() -> None:
    info = parse_target("GET", b"/api/v1/pods?labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn").info
    assert (info.label_selector, info.field_selector) == ("a=b", "spec.nodeName=n")


def test_selectors_of_a_watch_by_path_are_not_kept() -> None:
    assert parse_target("GET", b"/api/v1/watch/pods?labelSelector=a%3Db").info.label_selector == ""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/api/v1/pods?watch=1", True),
        ("/api/v1/namespaces/a/pods/p/log", True),
        ("/api/v1/namespaces/a/pods/p/exec", True),
        ("/api/v1/namespaces/a/pods/p", False),
        ("/version", False),
    ],
)
def test_streams_are_long_running(target: str, expected: bool) -> None:
    assert parse_target("GET", target.encode()).long_running is expected


def test_query_values_keep_their_order() -> None:
    assert parse_query("a=1&b=x+y&a=%32&c") == {"a": ["1", "2"], "b": ["x y"], "c": [""]}


def test_query_pairs_with_a_semicolon_are_left_out() -> None:
    assert parse_query("a=1;b=2&c=3") == {"c": ["3"]}


@pytest.mark.parametrize("pair", ["a=%zz", "a=%", "a=1%2", "%zz=1"])
def test_query_pairs_with_a_broken_escape_are_left_out(pair: str) -> None:
    assert parse_query(f"{pair}&c=%33") == {"c": ["3"]}


def test_the_cache_gives_the_same_target_again() -> None:
    cache = TargetCache()
    assert cache.get("GET", b"/api/v1/pods") is cache.get("GET", b"/api/v1/pods")


def test_the_cache_distinguishes_methods() -> None:
    cache = TargetCache()
    assert cache.get("GET", b"/api/v1/pods").info.verb != cache.get("POST", b"/api/v1/pods").info.verb


def test_the_cache_is_bounded_and_keeps_what_is_used() -> None:
    cache = TargetCache(entries_max=4)
    retained = cache.get("GET", b"/keep")
    for i in range(100):
        cache.get("GET", b"/%d" % i)
        assert cache.get("GET", b"/keep") is retained
    assert len(cache) <= 8

"""Path of a proxied request at the upstream."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.server.proxy.paths import path_behind, without_dots
from sampan.server.request_info import parse_target

PODS = "/api/v1/namespaces/ns/pods/x/proxy"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (PODS, ""),
        (f"{PODS}/", "/"),
        (f"{PODS}/a/b", "/a/b"),
        (f"{PODS}/a/b/", "/a/b/"),
        (f"{PODS}/a%2Fb", "/a%2Fb"),
        (f"{PODS}/a%20b%3Fc", "/a%20b%3Fc"),
        (f"{PODS}//evil.example/x", "/evil.example/x"),
        (f"{PODS}/http://evil.example/x", "/http://evil.example/x"),
        (f"{PODS}/@evil.example", "/@evil.example"),
        (f"{PODS}/../../../../nodes", "/nodes"),
        (f"{PODS}/a/../b", "/b"),
        (f"{PODS}/a/..", "/"),
        (f"{PODS}/%2e%2e/%2E./b", "/b"),
        (f"{PODS}/./a/.", "/a/"),
        (f"{PODS}%2Fa", "/a"),
        ("/api/v1/namespaces%2Fns%2fpods/x/proxy/a/proxy/b", "/a/proxy/b"),
        ("//api/v1/nodes/n/proxy/pods", "/pods"),
        ("/%2Fapi/v1/nodes/n/proxy/pods", "/pods"),
        ("/api/v1/nodes/n/proxy", ""),
        ("/api/v1/nodes/n/proxy/%2e%2e%2fm/proxy", "/%2e%2e%2fm/proxy"),
        ("http://other:1/api/v1/nodes/n/proxy/pods", "/pods"),
    ],
)
def test_the_path_behind_proxy_is_passed_as_it_was_sent(raw: str, path: str) -> None:
    target = parse_target("GET", raw.encode())
    assert path_behind(target.raw_path, target.info) == path


SEGMENTS = st.lists(st.sampled_from(["a", "..", ".", "", "%2e%2e", "%2F", "proxy", "%C3%A9", "@h", "x:1"]), max_size=6)


@given(SEGMENTS, st.sampled_from(["/", "%2F", "%2f"]))
def test_it_is_what_the_decoded_path_has_behind_proxy(segments: list[str], slash: str) -> None:
    raw = f"/api/v1/nodes{slash}n{slash}proxy/" + "/".join(segments)
    target = parse_target("GET", raw.encode())
    path = path_behind(target.raw_path, target.info)
    assert (target.info.resource, target.info.name, target.info.subresource) == ("nodes", "n", "proxy")
    assert path.startswith("/")
    assert not path.startswith("//")
    assert ".." not in path.replace("%2e", ".").split("/")
    if not any(dots in segment for segment in segments for dots in (".", "%2e")):
        assert unquote(path).lstrip("/") == unquote("/".join(segments)).lstrip("/")


@given(SEGMENTS)
def test_resolving_dots_twice_changes_nothing(segments: list[str]) -> None:
    path = without_dots("/" + "/".join(segments))
    assert without_dots(path) == path

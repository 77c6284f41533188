"""Paths that webhooks are requested at are those that client-go requests."""

from pathlib import Path

import pytest

from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.target import clean_path, target_of
from tests.registry.webhook.test_kubeconfig import _kubeconfig

PATHS = {
    "": "/",
    "/": "/",
    "//": "/",
    "//failing": "/failing",
    "///a//b///": "/a/b",
    "/a/./b/../c": "/a/c",
    "/../../a": "/a",
    "/a%2Fb": "/a/b",
    "/a b": "/a%20b",
    "/caf\u00e9": "/caf%C3%A9",
    "/a:b@c;d=e,f+g$h&i~j": "/a:b@c;d=e,f+g$h&i~j",
    "/a!(b)*'": "/a%21%28b%29%2A%27",
}


@pytest.mark.parametrize(("path", "cleaned"), PATHS.items())
def test_a_path_is_cleaned_and_encoded_as_by_go(path: str, cleaned: str) -> None:
    assert clean_path(path) == cleaned


def test_the_paths_of_urls_services_and_kubeconfigs_are_cleaned(tmp_path: Path) -> None:
    service = {"namespace": "n", "name": "s", "path": "/a//b/"}
    assert target_of({"url": "https://h//a/b/"}).path == "/a/b"
    assert target_of({"service": service}).path == "/a/b"
    assert target_of({"service": {"namespace": "n", "name": "s"}}).path == "/"
    assert read_webhook_kubeconfig(_kubeconfig(tmp_path, "https://h//a/b/"))[0].path == "/a/b"

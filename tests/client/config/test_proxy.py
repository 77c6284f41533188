"""The proxy that the environment names."""

import pytest

from sampan.client.config.proxy import proxy_from_environment
from sampan.http.client.address import ServerAddress

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("no_proxy", "url", "used"),
    [
        ("", "https://example.org", True),
        ("", "https://localhost:6443", False),
        ("", "https://127.0.0.1:6443", False),
        ("", "https://[::1]:6443", False),
        ("*", "https://example.org", False),
        ("example.org", "https://example.org", False),
        ("example.org", "https://api.example.org", False),
        ("example.org", "https://notexample.org", True),
        (".example.org", "https://api.example.org", False),
        (".example.org", "https://example.org", True),
        ("*.example.org", "https://api.example.org", False),
        ("a, Example.org ,", "https://EXAMPLE.org", False),
        ("example.org:443", "https://example.org", False),
        ("example.org:80", "https://example.org", True),
        ("10.0.0.0/8", "https://10.1.2.3:6443", False),
        ("10.0.0.0/8", "https://11.1.2.3:6443", True),
        ("10.0.0.0/99,x/y", "https://10.1.2.3:6443", True),
        ("10.1.2.3", "https://10.1.2.3:6443", False),
        ("10.1.2.3:6443", "https://10.1.2.3:6443", False),
        ("[fd00::1]:6443", "https://[fd00::1]:6443", False),
        ("fd00::1", "https://[fd00::1]:6443", False),
    ],
)
def test_no_proxy_lists_the_hosts_to_reach_directly(no_proxy: str, url: str, used: bool) -> None:
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}
    assert proxy_from_environment(environ, ServerAddress.parse(url)) == (PROXY if used else "")


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({"HTTP_PROXY": PROXY}, "https://h", ""),
        ({"HTTP_PROXY": PROXY}, "http://h", PROXY),
        ({"https_proxy": "proxy:3128", "no_proxy": "x"}, "https://h", PROXY),
    ],
)
def test_each_scheme_has_its_proxy(environ: dict[str, str], url: str, proxy: str) -> None:
    assert proxy_from_environment(environ, ServerAddress.parse(url)) == proxy

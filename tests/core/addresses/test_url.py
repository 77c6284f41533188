"""URLs that Go refuses are refused, with Go's reasons."""

import re

import pytest

from sampan.core.addresses.url import parse_error, split_url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://host/a\r\nX-Injected: 1", "net/url: invalid control character in URL"),
        ("https://host/a\tb", "net/url: invalid control character in URL"),
        ("https://ho\nst/", "net/url: invalid control character in URL"),
        ("\x00https://host", "net/url: invalid control character in URL"),
        ("https://host/\x7f", "net/url: invalid control character in URL"),
        (" https://host", "first path segment in URL cannot contain colon"),
        ("1https://host", "first path segment in URL cannot contain colon"),
        ("://host", "missing protocol scheme"),
        ("https://host:x/", 'invalid port ":x" after host'),
        ("https://host: 1/", 'invalid port ": 1" after host'),
        ("https://::1/", 'invalid port "::1" after host'),
        ("https://[::1]x/", 'invalid port "x" after host'),
        ("https://[::1/", "missing ']' in host"),
        ("https://a[::1]/", "invalid IP-literal"),
        ("https://ho st/", 'invalid character " " in host name'),
        ("https://ho\\st/", r'invalid character "\\" in host name'),
        ("https://ho%0ast/", 'invalid URL escape "%0a"'),
        ("https://a b@host/", "net/url: invalid userinfo"),
        ("https://host/%zz", 'invalid URL escape "%zz"'),
        ("https://host/%0", 'invalid URL escape "%0"'),
    ],
)
def test_a_url_that_go_refuses_is_refused(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        split_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://host",
        "https://host:8443/a%20b?c=%zz#d",
        "https://user:word@host:1/",
        "https://[::1]:6443/",
        "https://[fe80::1%25eth0]/",
        "https://ex_ample.com:/",
        "//host/path",
        "/path?a=b",
        "mailto:a b",
        "https://host/a b",
        "https://höst/",
        "",
    ],
)
def test_a_url_that_go_accepts_is_accepted(url: str) -> None:
    assert split_url(url).geturl() is not None


def test_the_error_quotes_the_url_without_its_fragment() -> None:
    assert parse_error("https://a\n#b", ValueError("reason")) == r'parse "https://a\n": reason'

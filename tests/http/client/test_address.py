"""Addresses."""

import pytest

from sampan.http.client.address import ServerAddress


@pytest.mark.parametrize(
    ("url", "address", "authority"),
    [
        ("https://example.org", ServerAddress("https", "example.org", 443), "example.org"),
        ("http://example.org/", ServerAddress("http", "example.org", 80), "example.org"),
        ("https://example.org:6443/a/b/", ServerAddress("https", "example.org", 6443, "/a/b"), "example.org:6443"),
        ("https://[::1]:6443", ServerAddress("https", "::1", 6443), "[::1]:6443"),
        ("https://[::1]", ServerAddress("https", "::1", 443), "[::1]"),
    ],
)
def test_a_url_is_an_address(url: str, address: ServerAddress, authority: str) -> None:
    assert ServerAddress.parse(url) == address
    assert address.authority == authority
    assert ServerAddress.parse(str(address)) == address


@pytest.mark.parametrize(
    "url", ["", "example.org", "example.org:6443", "ftp://h", "https://", "https://h:port", "https://h:99999"]
)
def test_an_invalid_server_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        ServerAddress.parse(url)

"""Selection of gzip by the Accept-Encoding header, and the compressed body."""

import gzip

import pytest

from sampan.server.compression import accepts_gzip, compress


@pytest.mark.parametrize(
    ("header", "expected"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("deflate,gzip", True), ("", False), ("br", False), ("x-gzip", False)],
)
def test_accept_encoding_is_read(header: str, expected: bool) -> None:
    assert accepts_gzip({"accept-encoding": header}) is expected


def test_compressed_bytes_can_be_decompressed() -> None:
    body = b"a b c" * 10000
    assert gzip.decompress(compress(body)) == body

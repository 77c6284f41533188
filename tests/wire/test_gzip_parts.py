"""Gzip bodies joined from parts decompress to the whole body."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.gzip_parts import join, pack


@given(st.binary(max_size=300), st.binary(max_size=5000))
def test_joined_parts_decompress_to_head_and_tail(head: bytes, tail: bytes) -> None:
    assert gzip.decompress(b"".join(join(head, pack(tail)))) == head + tail


def test_a_packed_tail_serves_several_heads() -> None:
    packed = pack(b"items" * 100_000)
    assert gzip.decompress(b"".join(join(b"first", packed))) == b"first" + b"items" * 100_000
    assert gzip.decompress(b"".join(join(b"second", packed))) == b"second" + b"items" * 100_000

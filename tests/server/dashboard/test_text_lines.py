"""Lines of a text on the stream of a page."""

import json
from typing import Any

import pytest

from sampan.server.dashboard.stream.text_lines import TEXT_LINE_BYTES_MAX, TextLines


def lines(*chunks: bytes) -> list[Any]:
    """Return the lines of a text that comes in chunks."""
    text = TextLines()
    found = [line for chunk in chunks for line in text.feed(chunk)] + text.end()
    return [json.loads(line) for line in found]


@pytest.mark.parametrize(
    "chunks",
    [(b"a\n\nb\nc",), (b"a", b"\n", b"\n", b"b\nc"), (b"a\n", b"\nb", b"\n", b"c")],
    ids=["whole", "parts", "breaks"],
)
def test_lines_are_the_same_however_the_text_is_cut(chunks: tuple[bytes, ...]) -> None:
    assert lines(*chunks) == ["a", "", "b", "c"]


def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    long = b"x" * (TEXT_LINE_BYTES_MAX + 7)
    expected = [{"cut": "x" * TEXT_LINE_BYTES_MAX}, "next"]
    assert lines(long + b"\nnext\n") == expected
    assert lines(*([b"x" * 1000] * 10_000), b"\nnext\n") == expected


def test_a_line_without_an_end_is_held_to_the_maximum() -> None:
    text = TextLines()
    assert [len(text.feed(b"x" * 1_000_000)) for _ in range(3)] == [1, 0, 0]
    assert text.end() == []


def test_bytes_that_are_no_text_are_marked() -> None:
    assert lines(b"\xff\xfe\x00ok\n") == ["\ufffd\ufffd\x00ok"]

"""`Warning` headers."""

import logging

import pytest

from sampan.client.transport import HttpRequest
from sampan.client.transports.warnings import LogWarnings, Warning, WarningsTransport, parse_warnings
from tests.client.fakes import FakeResponse, FakeTransport

HEADERS = {
    "one": ('299 - "old"', [Warning(299, "-", "old")]),
    "two fields": ('299 - "a"\n299 me "b"', [Warning(299, "-", "a"), Warning(299, "me", "b")]),
    "two in a field": ('299 - "a, b", 299 - "c"', [Warning(299, "-", "a, b"), Warning(299, "-", "c")]),
    "quotes": (r'299 - "say \"x\" and \\"', [Warning(299, "-", 'say "x" and \\')]),
    "with a date": ('199 x "a" "Tue, 15 Nov 1994 08:12:31 GMT"', [Warning(199, "x", "a")]),
    "garbled": ("old", []),
    "garbled after one": ('299 - "a", what', [Warning(299, "-", "a")]),
}


@pytest.mark.parametrize(("header", "warnings"), HEADERS.values(), ids=HEADERS)
def test_warnings_are_parsed(header: str, warnings: list[Warning]) -> None:
    assert list(parse_warnings(header)) == warnings


async def test_every_warning_is_handed_to_the_handler() -> None:
    found: list[Warning] = []
    inner = FakeTransport([FakeResponse(200, {"warning": '299 - "a"\n299 - "b"'})])
    await WarningsTransport(inner, found.append).send(HttpRequest("GET", "/"))
    assert [warning.text for warning in found] == ["a", "b"]


async def test_a_handler_that_fails_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def fails(warning: Warning) -> None:
        raise RuntimeError(warning.text)

    inner = FakeTransport([FakeResponse(200, {"warning": '299 - "a"'})])
    assert (await WarningsTransport(inner, fails).send(HttpRequest("GET", "/"))).status == 200
    assert "warning handler failed" in caplog.text


def test_each_text_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    handler = LogWarnings()
    with caplog.at_level(logging.WARNING, "sampan.client"):
        for warning in (Warning(299, "-", "a"), Warning(299, "-", "b"), Warning(299, "-", "a"), Warning(199, "-", "c")):
            handler(warning)
    assert [record.getMessage() for record in caplog.records] == [
        "server sent a warning: a",
        "server sent a warning: b",
    ]

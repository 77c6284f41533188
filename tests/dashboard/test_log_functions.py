"""The pure functions of logs in the page: sequences, times, levels, the ring, the filter, widths, selectors."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.modules import call, modules_page

MODULES = {
    "ansi": "logs/ansi.js",
    "line": "logs/line.js",
    "ring": "logs/ring.js",
    "matcher": "logs/matcher.js",
    "measure": "logs/measure.js",
    "pods": "logs/pods.js",
}


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules in `page_modules`."""
    with modules_page(chromium, tmp_path_factory.mktemp("logs"), MODULES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;AAAA\x07a", "a"),
        ("\x1b]0;title", ""),
        ("\x9b31mred\x9d0;t\x9cx", "redx"),
        ("\x1bPdevice\x1b\\x\x1b_apc\x1b\\y", "xy"),
        ("\x1b(Ba\x1bc", "a"),
        ("a\x1b", "a"),
        ("\x1b[", ""),
    ],
)
def test_a_line_is_shown_without_sequences(page: Page, text: str, plain: str) -> None:
    assert call(page, "ansi.plainText", text) == plain
    assert "".join(piece["text"] for piece in call(page, "ansi.piecesOf", text)) == plain


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("31", "a-red"),
        ("1;92", "a-green a-bold"),
        ("44;37", "a-white b-blue"),
        ("38;5;196", "a-red"),
        ("38;2;10;200;30", "a-green"),
        ("48;5;240", "b-black"),
        ("31;0", ""),
        ("", ""),
        ("38", ""),
        ("999;7", ""),
    ],
)
def test_colours_of_a_line_become_styles(page: Page, codes: str, style: str) -> None:
    assert call(page, "ansi.piecesOf", f"\x1b[{codes}mx") == [{"text": "x", "style": style}]


def test_a_long_hostile_line_is_parsed_quickly(page: Page) -> None:
    script = """(text) => {
      const began = performance.now();
      page_modules.ansi.piecesOf(text);
      return performance.now() - began;
    }"""
    for text in ("\x1b[" * 16_000, "\x1b]" * 16_000, "\x1b[" + "1;" * 16_000, "\x1bP" + "x" * 32_000):
        assert page.evaluate(script, text) < 500


def test_times_are_compared_as_texts(page: Page) -> None:
    stamps = [
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.1Z",
        "2026-01-02T03:04:05.12Z",
        "2026-01-02T03:04:05.120000001Z",
        "2026-01-02T04:04:05.5+01:00",
        "2026-01-02T03:04:06Z",
    ]
    keys = [call(page, "line.keyOf", each) for each in stamps]
    assert keys == sorted(keys)
    assert keys[4] == "2026-01-02T03:04:05.500000000"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("E0102 03:04:05.123456 1 main.go:7] no", "error"),
        ('{"level":"warn","msg":"x"}', "warn"),
        ('{"level":50,"msg":"x"}', "error"),
        ("time=x level=debug msg=y", "debug"),
        ("2026-01-02 INFO started", "info"),
        ("[ERROR] no", "error"),
        ("\x1b[33mWARN\x1b[0m slow", "warn"),
        ("GET /error 200", ""),
        ("an information desk", ""),
    ],
)
def test_the_level_of_a_line_is_found(page: Page, text: str, level: str) -> None:
    index = call(page, "line.levelOf", text)
    assert (page.evaluate("page_modules.line.LEVELS")[index] if index >= 0 else "") == level


RING: Any = """([linesMax, charactersMax, batches]) => {
  const ring = new page_modules.ring.LogRing(linesMax, charactersMax);
  const changes = batches.map((batch) => ring.add(batch.map((key) => ({ key, text: key }))).lines.length);
  const keys = [];
  for (let i = 0; i < ring.length; i++) keys.push(ring.at(i).key);
  return { keys, changes, dropped: ring.dropped, characters: ring.characters };
}"""


def test_the_ring_keeps_the_newest_lines_in_the_order_of_their_times(page: Page) -> None:
    state = page.evaluate(RING, [4, 1000, [["b", "d"], ["c", "a"], ["f", "e"]]])
    assert state == {"keys": ["c", "d", "e", "f"], "changes": [2, 4, 2], "dropped": 2, "characters": 4}


def test_the_ring_is_bounded_by_characters_too(page: Page) -> None:
    state = page.evaluate(RING, [100, 5, [["aa", "bb"], ["cc"], ["dd"]]])
    assert (state["keys"], state["characters"]) == (["cc", "dd"], 4)


MATCH: Any = """([text, line]) => {
  const matcher = new page_modules.matcher.Matcher({ text, level: -1 });
  return [matcher.matches({ text: line }), matcher.ranges(line), matcher.error];
}"""


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("REQ", "a request", [True, [[2, 5]], ""]),
        ("/r.q/", "req, roq", [True, [[0, 3], [5, 8]], ""]),
        ("/x*/", "abc", [True, [], ""]),
        ("/(a+)+$/", "aaaa", [True, [], "filter.error.regex_slow"]),
        ("/[/", "[", [True, [], "filter.error.regex"]),
        ("no", "yes", [False, [], ""]),
    ],
)
def test_a_filter_finds_texts_and_expressions(page: Page, text: str, line: str, expected: list[Any]) -> None:
    assert page.evaluate(MATCH, [text, line]) == expected


def test_wide_characters_and_tabs_have_their_columns(page: Page) -> None:
    assert [call(page, "measure.columnsOf", each) for each in ("abc", "日志", "\ta", "\x1b[31mx")] == [3, 4, 5, 1]
    assert call(page, "measure.columnsOf", "x" * 10_000) == 4000


@pytest.mark.parametrize(
    ("plural", "group", "selector", "expected"),
    [
        ("services", "", {"app": "web"}, "app=web"),
        ("deployments", "apps", {"matchLabels": {"app": "web"}}, "app=web"),
        ("jobs", "batch", {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}, "a in (b,c)"),
        ("daemonsets", "apps", {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, "!a"),
        ("services", "", None, ""),
        ("boats", "harbour.example.com", {"app": "web"}, ""),
    ],
)
def test_the_selector_of_a_workload_is_a_parameter(
    page: Page, plural: str, group: str, selector: Any, expected: str
) -> None:
    found = call(page, "pods.selectorOf", {"plural": plural, "group": group}, {"spec": {"selector": selector}})
    assert found == expected

"""Both engines: Go's semantics and messages, compared with each other on generated expressions.

Source: Go regexp, regexp/syntax (1.24).
"""

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.schema.regex.engine import Regex, compile_regex
from sampan.schema.regex.errors import SearchTooLong
from sampan.schema.regex.fallback import automaton
from sampan.schema.regex.fallback.automaton import STATES_MAX
from sampan.schema.regex.fallback.pattern import FallbackPattern
from sampan.schema.regex.re2_pattern import Re2Pattern
from tests.packaging.restricted import environment, output

Engine = Callable[[str], Regex]
ENGINES = pytest.mark.parametrize("engine", [FallbackPattern, Re2Pattern], ids=["fallback", "re2"])
PARTS = (
    *("a", "b", "ab", "é", "-", "1", ".", r"\d", r"\w", r"\s", "[a-c]", "[^a]", "[[:alpha:]]", r"[^\w]", "[]a]"),
    *(r"[\d-]", r"\b", "^", "$", r"\A", r"\z", r"\.", r"\pL", r"\x41", r"\101", r"\Q.\E", r"\8", "[", "]", "[a-"),
    *("\\", "{", "}", "(", "(?:", "(?i)", "(?i:", "(?s)", "(?m)", "(?U)", ")", "|", "*", "+", "?", "*?", "??"),
    *("{2}", "{1,3}", "{2,}?"),
)
EXPRESSIONS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map("".join)
TEXTS = st.text(st.sampled_from("aab1-_. \nAéKſK"), max_size=8)


def result(engine: Engine, pattern: str, text: str) -> object:
    """Return the matches, or the error."""
    try:
        compiled = engine(pattern)
    except ValueError as error:
        return str(error)
    return compiled.matches(text), list(compiled.find_all(text))


@given(EXPRESSIONS, TEXTS)
def test_the_fallback_finds_what_re2_finds(pattern: str, text: str) -> None:
    assert result(FallbackPattern, pattern, text) == result(Re2Pattern, pattern, text)


@ENGINES
@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a*?", "aa", ["", "", ""]),
        ("a*", "baac", ["", "aa", ""]),
        ("a|ab", "ab", ["a"]),
        ("ab|a", "ab", ["ab"]),
        ("(?i)straSSe", "STRASSE", ["STRASSE"]),
        ("(?U)a+", "aaa", ["a", "a", "a"]),
        (r"\bfoo\b", "foo food (foo)", ["foo", "foo"]),
        ("(?m)^.$", "a\nbc\nd", ["a", "d"]),
        ("^a", "aa", ["a"]),
        (r"\p{Lu}+", "abÀÉc", ["ÀÉ"]),
        ("[^[:^digit:]]{2}", "1 23", ["23"]),
        ("", "aé€\U0001f600", [""] * 5),
        ("x*", "é€x", ["", "", "x"]),
        (r"\b", "é a", ["", ""]),
        ("(é)|(€)", "é€", ["é", "€"]),
        ("(?P<year>[0-9]{4})-(?:[0-9]{2})", "on 2026-11-24", ["2026-11"]),
    ],
)
def test_the_leftmost_preferred_matches_are_found(engine: Engine, pattern: str, text: str, matches: list[str]) -> None:
    assert list(engine(pattern).find_all(text)) == matches
    assert engine(pattern).matches(text) == bool(matches)


@ENGINES
@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[a", "missing closing ]: `[a`"),
        ("(a", "missing closing ): `(a`"),
        ("a)", "unexpected ): `a)`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a(?i", "invalid or unsupported Perl syntax: `(?i`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("a\\", "trailing backslash at end of expression: ``"),
    ],
)
def test_an_invalid_expression_has_the_message_of_go(engine: Engine, pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match="error parsing regexp") as caught:
        engine(pattern)
    assert str(caught.value) == f"error parsing regexp: {message}"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("((a{1000}){1000})", "invalid repeat count"),
        ("a{1000}" * 21, "expression too large"),
        ("(" * 101 + ")" * 101, "expression nests too deeply"),
    ],
)
def test_the_fallback_refuses_expressions_that_are_too_large(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FallbackPattern(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)*b", "(.*)(.*)(.*)x"])
def test_the_fallback_takes_linear_time(pattern: str) -> None:
    began = time.process_time()
    FallbackPattern(pattern).matches("a" * 50_000 + "!")
    assert time.process_time() - began < 1


def test_the_fallback_refuses_a_search_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "VISITS_MAX", 100)
    pattern, text = FallbackPattern("(a{0,9}){0,9}b"), "a" * 20
    assert not pattern.accepts(text)
    with pytest.raises(SearchTooLong):
        pattern.matches(text)
    with pytest.raises(SearchTooLong):
        list(pattern.find_all(text))


def test_the_fallback_keeps_few_states() -> None:
    pattern = FallbackPattern("a.{12}b")
    for number in range(4_000):
        pattern.matches(f"{number:016b}".replace("1", "a"))
    assert len(pattern._any._states) <= STATES_MAX


def test_without_re2_the_fallback_is_used(tmp_path_factory: pytest.TempPathFactory) -> None:
    code = f"from {compile_regex.__module__} import compile_regex; print(type(compile_regex('a')).__name__)"
    assert output(code, environment(tmp_path_factory.mktemp("musl"), ["msgspec"], {})) == "FallbackPattern\n"

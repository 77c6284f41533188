"""Validate names, with the error messages of Kubernetes."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.field import FieldError, Path
from sampan.core.validation import domains, names
from sampan.core.validation import values as value_rules

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize("name", ["a", "0", "a.b", "a-b.c-d", "a--b", "x" * 253])
def test_valid_subdomains_have_no_errors(name: str) -> None:
    assert names.dns1123_subdomain_errors(name) == []


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", ".a", "a.", "a..b", "a-.b", "a.-b", "a_b", "a b", "a\n", "é"])
def test_invalid_subdomains_have_an_error(name: str) -> None:
    assert names.dns1123_subdomain_errors(name) == [SUBDOMAIN]


def test_error_of_long_subdomains_names_the_limit() -> None:
    assert names.dns1123_subdomain_errors("x" * 254) == ["must be no more than 253 characters"]


def test_lengths_are_bytes() -> None:
    assert names.dns1123_subdomain_errors("é" * 127) == ["must be no more than 253 characters", SUBDOMAIN]


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("my-name", []),
        ("a.b", ["must not contain dots"]),
        ("A", [LABEL]),
        ("", [LABEL]),
        ("x" * 64, ["must be no more than 63 characters"]),
        ("x" * 60 + ".abcd", ["must be no more than 63 characters", "must not contain dots"]),
    ],
)
def test_labels_have_no_dots(name: str, errors: list[str]) -> None:
    assert names.dns1123_label_errors(name) == errors


@pytest.mark.parametrize(("name", "good"), [("a", True), ("a-1", True), ("1a", False), ("a-", False), ("", False)])
def test_service_names_start_with_a_letter(name: str, good: bool) -> None:
    assert (names.dns1035_label_errors(name) == []) is good


@pytest.mark.parametrize("rule", [names.dns1123_subdomain_errors, names.dns1123_label_errors])
def test_a_prefix_may_end_with_a_dash(rule: names.NameRule) -> None:
    assert rule("web-", prefix=True) == []
    assert rule("web-") != []


def test_prefix_of_a_single_dash_is_invalid() -> None:
    assert names.dns1123_label_errors("-", prefix=True) == [LABEL]


@pytest.mark.parametrize(
    ("name", "prefix", "errors"),
    [
        ("system:node", False, []),
        (".", False, ["may not be '.'"]),
        ("..", False, ["may not be '..'"]),
        ("..", True, []),
        ("a/b%c", False, ["may not contain '/'", "may not contain '%'"]),
        ("", False, []),
    ],
)
def test_path_segments(name: str, prefix: bool, errors: list[str]) -> None:
    assert names.path_segment_errors(name, prefix=prefix) == errors


@pytest.mark.parametrize(
    ("key", "errors"),
    [
        ("app", []),
        ("app.kubernetes.io/name", []),
        ("A_b.c", []),
        ("x" * 63, []),
        ("y" * 253 + "/" + "x" * 63, []),
        ("", ["name part must be non-empty", f"name part {KEY}"]),
        ("x" * 64, ["name part must be no more than 63 bytes"]),
        ("/a", ["prefix part must be non-empty"]),
        ("a/", ["name part must be non-empty", f"name part {KEY}"]),
        ("A/b", [f"prefix part {SUBDOMAIN}"]),
        ("y" * 254 + "/a", ["prefix part must be no more than 253 bytes"]),
        (
            "a/b/c",
            [f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"],
        ),
        ("-a", [f"name part {KEY}"]),
    ],
)
def test_qualified_names(key: str, errors: list[str]) -> None:
    assert names.qualified_name_errors(key) == errors


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        ("", []),
        ("v1.2_x-Y", []),
        ("x" * 64, ["must be no more than 63 bytes"]),
        ("a b", [VALUE]),
        ("-", [VALUE]),
        ("é" * 40, ["must be no more than 63 bytes", VALUE]),
    ],
)
def test_label_values(value: str, errors: list[str]) -> None:
    assert names.label_value_errors(value) == errors


@pytest.mark.parametrize(
    ("name", "good"), [("*.a.b", True), ("*.a", True), ("*", False), ("a.b", False), ("*.*.a", False)]
)
def test_wildcards(name: str, good: bool) -> None:
    assert (names.wildcard_dns1123_subdomain_errors(name) == []) is good


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("http", []),
        ("a-1", []),
        ("x" * 16, ["must be no more than 15 characters"]),
        ("80", ["must contain at least one letter (a-z)"]),
        ("a--b", ["must not contain consecutive hyphens"]),
        ("-a", ["must not begin or end with a hyphen"]),
        (
            "",
            [
                "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "must contain at least one letter (a-z)",
            ],
        ),
    ],
)
def test_port_names(name: str, errors: list[str]) -> None:
    assert value_rules.port_name_errors(name) == errors


@pytest.mark.parametrize(("port", "good"), [(1, True), (65535, True), (0, False), (65536, False), (-1, False)])
def test_port_numbers(port: int, good: bool) -> None:
    assert value_rules.port_number_errors(port) == ([] if good else ["must be between 1 and 65535, inclusive"])


@pytest.mark.parametrize(
    ("key", "errors"),
    [
        ("a.b_c-D", []),
        (".", ["must not be '.'"]),
        ("..", ["must not be '..'"]),
        ("..a", ["must not start with '..'"]),
        ("x" * 254, ["must be no more than 253 characters"]),
    ],
)
def test_config_map_keys(key: str, errors: list[str]) -> None:
    assert value_rules.config_map_key_errors(key) == errors


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (value_rules.percent_errors, "25%", "25"),
        (value_rules.http_header_name_errors, "X-Name", "a_b"),
        (value_rules.relaxed_environment_variable_name_errors, "1 A", "a=b"),
        (value_rules.decimal_integer_errors, "-12", "012"),
        (names.dns1123_subdomain_with_underscore_errors, "_a.b", "a."),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_values_are_validated(check: Callable[[str], list[str]], good: str, bad: str) -> None:
    assert check(good) == []
    assert len(check(bad)) == 1


def test_empty_environment_variable_names_are_invalid() -> None:
    assert value_rules.relaxed_environment_variable_name_errors("") == ["environment variable name must be non-empty"]


@pytest.mark.parametrize(
    ("check", "value", "shown"),
    [
        (domains.fully_qualified_name_errors, "", "spec.x: Required value"),
        (
            domains.fully_qualified_name_errors,
            "a.b",
            'spec.x: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
        ),
        (
            domains.fully_qualified_domain_name_errors,
            "a.",
            'spec.x: Invalid value: "a": should be a domain with at least two segments separated by dots',
        ),
        (
            domains.domain_prefixed_path_errors,
            "a.b",
            'spec.x: Invalid value: "a.b": must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        (
            domains.domain_prefixed_key_errors,
            "a",
            'spec.x: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
        ),
    ],
)
def test_qualified_domains(check: Callable[[Path, str], list[FieldError]], value: str, shown: str) -> None:
    assert [str(error) for error in check(Path("spec", "x"), value)] == [shown]


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (domains.fully_qualified_name_errors, "a.b.c"),
        (domains.fully_qualified_domain_name_errors, "a.b."),
        (domains.domain_prefixed_path_errors, "acme.io/foo/bar%20"),
        (domains.domain_prefixed_key_errors, "acme.io/foo"),
    ],
)
def test_valid_domains_have_no_errors(check: Callable[[Path, str], list[FieldError]], value: str) -> None:
    assert check(Path("spec", "x"), value) == []


@given(st.text(alphabet="abcdefghij", max_size=80), st.integers())
def test_generated_names_keep_the_base_and_fit(base: str, seed: int) -> None:
    name = names.generate_name(base, random.Random(seed))
    assert name.startswith(base[:58])
    assert len(name) == min(len(base), 58) + 5
    assert not set(name[-5:]) & set("aeiou013")


@given(st.text(alphabet="aZ0-_./% é", max_size=70) | st.text(alphabet="a0-", min_size=1, max_size=64))
def test_valid_labels_are_valid_subdomains(text: str) -> None:
    if not names.dns1123_label_errors(text):
        assert not names.dns1123_subdomain_errors(text)
        assert not names.qualified_name_errors(text)
        assert not names.label_value_errors(text)


def test_long_invalid_name_is_checked_in_linear_time() -> None:
    assert names.dns1123_subdomain_errors("a-" * 500_000)

"""Encode and decode YAML bodies."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.json import DecodeError
from sampan.wire.json import decode as decode_json
from sampan.wire.json import encode as encode_json
from sampan.wire.yaml import decode, decode_strict, encode


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("on", True),
        ("y", True),
        ("No", False),
        ("off", False),
        ("true", True),
        ("tRue", "tRue"),
        ("~", None),
        ("null", None),
        ("", None),
        ("1", 1),
        ("+5", 5),
        ("-0", 0),
        ("1_000", 1000),
        ("0777", 511),
        ("0o17", 15),
        ("08", 8),
        ("0x1F", 31),
        ("-0x10", -16),
        ("0b11", 3),
        ("1e3", 1000),
        ("1.0", 1),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1),
        ("1e400", "1e400"),
        ("1e", "1e"),
        ("1.2.3", "1.2.3"),
        ("12:30", "12:30"),
        ("2020-01-01", "2020-01-01"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("<<", "<<"),
        ("=", "="),
        ('"yes"', "yes"),
        ("'1'", "1"),
        ("!!str 5", "5"),
        ("!!float 5", 5),
        ("!!binary aGk=", "hi"),
        ("!custom x", "x"),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", 2**64 - 1),
        ("1e21", 1e21),
    ],
)
def test_scalars_are_resolved_as_in_kubernetes(text: str, value: object) -> None:
    found = decode(f"a: {text}".encode())["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("a", "a"),
        ("y", "true"),
        ("no", "false"),
        ("1", "1"),
        ("0x10", "16"),
        ("1.5", "1.5"),
        ("1e6", "1e+06"),
        ('"1"', "1"),
    ],
)
def test_keys_become_strings(text: str, key: str) -> None:
    assert decode(f"{text}: x".encode()) == {key: "x"}


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"", None),
        (b"# nothing\n", None),
        (b"---\na: 1\n---\n", {"a": 1}),
        (b'{"a": [1, {"b": null}]}', {"a": [1, {"b": None}]}),
        (b"a:\n- b: 1\n  c: 2\n- d", {"a": [{"b": 1, "c": 2}, "d"]}),
        (b"a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        (b"a: &a {x: 1, z: 1}\nb:\n  <<: *a\n  z: 2", {"a": {"x": 1, "z": 1}, "b": {"x": 1, "z": 2}}),
        (b"<<: [{a: 1, b: 1}, {a: 2, c: 2}]", {"a": 1, "b": 1, "c": 2}),
        (b"a: 1\na: 2\n", {"a": 2}),
        (b"a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        (b"\xef\xbb\xbfa: 1", {"a": 1}),
        ("a: é😀".encode(), {"a": "é😀"}),
    ],
)
def test_documents_are_decoded(body: bytes, value: object) -> None:
    assert decode(body) == value


def test_aliases_share_nothing() -> None:
    value = decode(b"a: &x {k: [1]}\nb: *x\n")
    value["a"]["k"].append(2)
    assert value["b"] == {"k": [1]}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"a: 1\n---\nb: 2", "yaml: the body contains more than one document"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: 1\nb: c: d", "yaml: line 2: mapping values are not allowed in this context"),
        (b"a\nb: 1\nc", "yaml: line 2: mapping values are not allowed in this context"),
        (b"a: 1\nb", "yaml: line 3: could not find expected ':'"),
        (b"*x", "yaml: unknown anchor 'x' referenced"),
        (b"&a [*a]", "yaml: anchor 'a' value contains itself"),
        (b"? [a]\n: b", "yaml: invalid map key: must be a scalar, but is a list"),
        (b"~: 1", "yaml: invalid map key: must not be null; quote it to use it as text"),
        (b"a: .nan", "json: unsupported value: NaN"),
        (b"a: -.inf", "json: unsupported value: -Inf"),
        (b"a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        (b"<<: x", "yaml: map merge requires map or sequence of maps as the value"),
        (b"a: !!binary $", "yaml: !!binary value contains invalid base64 data"),
        (b"\xff", "yaml: invalid leading UTF-8 octet"),
        (b'a: "\x01"', "yaml: control characters are not allowed"),
        (b"- " * 1001 + b"a", "yaml: exceeded max depth of 1000"),
        (b"[" * 10_001, "yaml: exceeded max depth of 10000"),
        (b'{"a": ' * 10_001, "yaml: exceeded max depth of 10000"),
    ],
)
def test_invalid_documents_are_rejected(body: bytes, error: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"- " * 300 + b"a", b"[" * 300 + b'"a"' + b"]" * 300),
        (b"{a: " * 300 + b"1.0" + b"}" * 300, b'{"a":' * 300 + b"1" + b"}" * 300),
        (b'{"a": ' * 9_999 + b"1" + b"}" * 9_999, b'{"a":' * 9_999 + b"1" + b"}" * 9_999),
    ],
    ids=["block", "flow", "json"],
)
def test_a_document_of_many_levels_is_the_value_of_its_json(body: bytes, value: bytes) -> None:
    assert decode(body) == decode_json(value)
    text = encode({"x": decode(body), "y": 1})
    assert encode_json(decode(text)).rstrip() == b'{"x":%b,"y":1}' % value


def bomb(levels: int, width: int) -> bytes:
    """Return anchors that each contain the previous one many times."""
    lines = [f"a0: &a0 [{', '.join(['x'] * width)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    "body", [bomb(9, 10), bomb(300, 2), b"a: &a " + b"x" * 100_000 + b"\nb: [" + b"*a," * 100 + b"]"]
)
def test_aliases_cannot_expand_a_small_body(body: bytes) -> None:
    with pytest.raises(DecodeError, match=r"excessive aliasing|max depth"):
        decode(body)


def test_moderate_use_of_aliases_is_allowed() -> None:
    assert len(decode(b"a: &a {x: 1}\nb: [" + b"*a, " * 500 + b"]")["b"]) == 500


def test_chain_of_anchors_counts_towards_the_depth_limit() -> None:
    chain = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 300))])
    with pytest.raises(DecodeError, match="exceeded max depth"):
        decode(chain.encode())


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"a: 1\nb: 2\n", []),
        (b"a: 1\na: 2\n", ['  line 2: key "a" already set in map']),
        (
            b"x:\n  a: 1\n  a: 2\n1: a\n1: b",
            ['  line 3: key "a" already set in map', "  line 5: key 1 already set in map"],
        ),
    ],
)
def test_duplicate_keys_are_reported_with_their_line(body: bytes, lines: list[str]) -> None:
    value, found = decode_strict(body)
    assert found == (["\n".join(["yaml: unmarshal errors:", *lines])] if lines else [])
    assert value == decode(body)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [{"y": 1, "x": None}]}, 'a:\n- x: null\n  "y": 1\nb: 1\n'),
        ({"a10": 1, "a2": 2}, "a2: 2\na10: 1\n"),
        ({"a": {}, "b": []}, "a: {}\nb: []\n"),
        ("yes", '"yes"\n'),
        ("12:30", '"12:30"\n'),
        ("2020-01-01", '"2020-01-01"\n'),
        ("1e3", '"1e3"\n'),
        ("", '""\n'),
        ("- x", "'- x'\n"),
        ("a: b", "'a: b'\n"),
        ("a\nb", "|-\n  a\n  b\n"),
        ("a\n\n", "|+\n  a\n\n"),
        ("é", "é\n"),
        ("😀", '"\\U0001F600"\n'),
        ("plain text", "plain text\n"),
        (1.5, "1.5\n"),
        (1234567.5, "1.2345675e+06\n"),
        (1e16, "10000000000000000\n"),
        (True, "true\n"),
        (None, "null\n"),
    ],
)
def test_values_are_encoded_as_in_kubernetes(value: object, text: str) -> None:
    assert encode(value).decode() == text


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "yes",
        "1",
        "0x1",
        "~",
        "a: b",
        "- x",
        " lead",
        "trail ",
        "a\nb",
        "\n",
        "\t",
        "#",
        "'",
        '"',
        "\x85",
        "\u2028",
        "...",
        "---",
    ]
)
yaml_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def as_json(value: Any) -> Any:
    """Return a float after a round trip through JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**63 else value
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return value


@given(yaml_values)
def test_values_round_trip(value: Any) -> None:
    assert decode(encode(value)) == as_json(value)


@given(st.binary(max_size=60) | st.text(alphabet="ab:-[]{},&*!<>|?'\"#%@`\n \t~01.e_\\", max_size=60).map(str.encode))
def test_decoding_raises_only_decode_error(body: bytes) -> None:
    try:
        value, _ = decode_strict(body)
    except DecodeError:
        return
    assert not (isinstance(value, float) and math.isnan(value))


@given(st.floats(1e-40, 1e40))
def test_every_float_can_be_a_key(number: float) -> None:
    (key,) = decode(f"{number!r}: x".encode())
    assert (
        math.isclose(float(key.replace(".inf", "inf")), number, rel_tol=1e-6) or float(number) > 3e38 or number < 1e-37
    )

"""Encode and decode JSON bodies."""

import json as stdlib_json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.deep_json import DEPTH_MAX, LEVELS_MAX, DeepJson, has_leaf
from sampan.wire.json import (
    DecodeError,
    EncodeError,
    decode,
    decode_strict,
    encode,
    encode_sorted,
    pretty,
    without_deep_parts,
)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b" [1, 2.5, null, true]\n", [1, 2.5, None, True]),
        (b"9223372036854775807", 2**63 - 1),
        (b"18446744073709551615", 2**64 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"123456789012345678901234567890", 1.2345678901234568e29),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'"\xff"', "\ufffd"),
        (b'"\\ud800x"', "\ufffdx"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
    ],
)
def test_bodies_are_decoded(body: bytes, value: object) -> None:
    assert decode(body) == value


def test_integers_stay_integers() -> None:
    assert [type(number) for number in decode(b"[1, 1.0, 9007199254740993]")] == [int, float, int]
    assert decode(b"9007199254740993") == 9007199254740993


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "unexpected end of JSON input"),
        (b" \n", "unexpected end of JSON input"),
        (b'{"a"', "unexpected end of JSON input"),
        (b'{"a":1,', "unexpected end of JSON input"),
        (b'"abc', "unexpected end of JSON input"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b"{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        (b"{} {}", "invalid character '{' after top-level value"),
        (b"01", "invalid character '1' after top-level value"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b"tru", "invalid character ' ' in literal true (expecting 'e')"),
        (b"-", "invalid character ' ' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"\xff", "invalid character 'ÿ' looking for beginning of value"),
        (b'"\xff', "unexpected end of JSON input"),
    ],
)
def test_invalid_bodies_are_rejected_with_the_messages_of_go(body: bytes, error: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert str(caught.value) == error


LIST, MAP = (b"[", b"]"), (b'{"a":', b"}")


def nested(levels: int, inside: bytes = b"1", parts: tuple[bytes, bytes] = MAP) -> bytes:
    return parts[0] * levels + inside + parts[1] * levels


@pytest.mark.parametrize("levels", [LEVELS_MAX - 1, LEVELS_MAX, LEVELS_MAX + 1, 400, 401, 1024, 1025, DEPTH_MAX])
@pytest.mark.parametrize("parts", [LIST, MAP], ids=["list", "map"])
def test_a_body_of_many_levels_is_given_back_whole(levels: int, parts: tuple[bytes, bytes]) -> None:
    body = nested(levels, parts=parts)
    value = decode(body)
    assert has_leaf(value) is (levels > LEVELS_MAX)
    assert encode(value).rstrip() == encode_sorted(value) == body
    assert decode_strict(body) == (value, [])


@pytest.mark.parametrize("levels", [DEPTH_MAX + 1, 100_000])
@pytest.mark.parametrize("parts", [LIST, MAP, (b"[", b"")], ids=["list", "map", "open"])
def test_bodies_above_the_depth_limit_are_rejected(levels: int, parts: tuple[bytes, bytes]) -> None:
    body = nested(levels, parts=parts)
    for read in (decode, decode_strict):
        with pytest.raises(DecodeError) as caught:
            read(body)
        assert str(caught.value) == f"invalid character '{parts[0][:1].decode()}' exceeded max depth"


@pytest.mark.parametrize(
    ("inside", "error"),
    [
        (b'{"q":1,,}', "invalid character ',' looking for beginning of object key string"),
        (b"{" + nested(300) + b":1}", "invalid character '{' looking for beginning of object key string"),
        (b"{]", "invalid character ']' looking for beginning of object key string"),
        (b"1}}", "invalid character '}' after top-level value"),
        (b'{"q":1', "unexpected end of JSON input"),
        (b'{"q":"', "unexpected end of JSON input"),
    ],
)
def test_errors_far_inside_have_the_messages_of_go(inside: bytes, error: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(nested(300, inside))
    assert str(caught.value) == error


def test_parts_that_are_nested_deeply_are_equal_if_their_values_are() -> None:
    one = decode(nested(300, b'{"a": 1.0, "b" :[ "\\u0061" ] , "a":2e0}'))
    assert one == decode(nested(300, b'{"b":["a"],"a":2}'))
    assert one != decode(nested(300, b'{"b":["a"],"a":3}'))


def test_only_parts_beyond_the_limit_become_leaves() -> None:
    value = decode(b'{"flat":%b,"deep":%b}' % (nested(250), nested(260)))
    assert not has_leaf(value["flat"])
    assert has_leaf(value["deep"])


@pytest.mark.parametrize("levels", [250, 300, 600])
def test_duplicates_far_inside_have_their_whole_path(levels: int) -> None:
    found = decode_strict(nested(levels, b'[{"b":1,"b":2}]'))[1]
    assert found == [f'duplicate field "{".".join(["a"] * levels)}[0].b"']


def test_many_brackets_far_inside_are_decoded_in_one_pass() -> None:
    inside = b",".join([b"[[]]"] * 5000)
    body = nested(9000, inside, LIST)
    assert encode(decode(body)).rstrip() == body


@pytest.mark.parametrize(
    "text", [b'"' + b'\\"' * 200_000, b'"' * 200_001, b'"\\' * 100_001], ids=["escapes", "quotes", "end"]
)
def test_strings_without_an_end_far_inside_are_scanned_once(text: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(b"[" * 1100 + text)


def test_a_text_that_looks_like_a_placeholder_stays() -> None:
    body = nested(300, b'{"a":%d,"b":"%b"}' % (2**62, b"0" * 32))
    assert encode(decode(body)).rstrip() == body


def test_many_parts_next_to_long_texts_are_encoded_whole() -> None:
    pads = range(0, 3000, 7)
    value = [{"pad": "x" * pad, "part": decode(nested(300, b'"%b"' % (b"y" * pad)))} for pad in pads]
    parts = [b'{"pad":"%b","part":%b}' % (b"x" * pad, nested(300, b'"%b"' % (b"y" * pad))) for pad in pads]
    assert encode(value).rstrip() == b"[%b]" % b",".join(parts)


def test_parts_that_are_nested_deeply_can_be_left_out() -> None:
    body = b'{"metadata":{"name":"a"},"x":%b}' % nested(3000)
    found = decode(without_deep_parts(body))
    assert found["metadata"] == {"name": "a"}
    assert not has_leaf(found)


def test_pretty_keeps_parts_that_are_nested_deeply() -> None:
    assert decode(pretty(decode(nested(1000)))) == decode(nested(1000))


def test_a_leaf_is_a_map_or_a_list() -> None:
    assert DeepJson(b"{}").is_map
    assert not DeepJson(b"[]").is_map


def test_many_brackets_on_one_level_are_allowed() -> None:
    assert decode(b"[" + b",".join([b"{}"] * 1000) + b"]") == [{}] * 1000


@pytest.mark.parametrize(
    ("body", "duplicates"),
    [
        (b'{"a":1,"b":{"a":1}}', []),
        (b'{"a":1,"a":2}', ["a"]),
        (b'{"spec":{"x":1,"x":2,"x":3}}', ["spec.x"]),
        (b'{"a":{"b":[{"c":1,"c":2},{"c" :1, "c":3}]},"a":1}', ["a.b[0].c", "a.b[1].c", "a"]),
        (b'[{"a":1,"a":1}]', ["[0].a"]),
        (b'{"a\\u0062":1,"ab":2}', ["ab"]),
        (b'{"a":"x\\":","b":1}', []),
        (b'{"a\\\\":1,"a\\\\":2}', ["a\\\\"]),
        (b'{"a" :1,"b":2,"b":3}', ["b"]),
        (b'{"a":"{\\"b\\":1,\\"b\\":2}"}', []),
        (b'{"a":1.0,"b":1.0,"b":1e5}', ["b"]),
        (b'{"\xff":1,"\xff":2}', ["\ufffd"]),
    ],
)
def test_duplicate_keys_are_reported_with_their_path(body: bytes, duplicates: list[str]) -> None:
    value, found = decode_strict(body)
    assert found == [f'duplicate field "{path}"' for path in duplicates]
    assert value == decode(body)


def test_at_most_100_duplicates_are_reported() -> None:
    body = b"{" + b",".join(b'"k%d":1,"k%d":2' % (index, index) for index in range(200)) + b"}"
    assert len(decode_strict(body)[1]) == 100


class Pairs(list[Any]):
    """Map as a list of pairs, so that the model finds duplicates."""


def model_duplicates(body: str) -> list[str]:
    found: dict[str, None] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, Pairs):
            observed = set()
            for key, item in value:
                where = f"{path}.{key}" if path else key
                if key in observed:
                    found[where] = None
                observed.add(key)
                walk(item, where)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")

    walk(stdlib_json.loads(body, object_pairs_hook=Pairs), "")
    return list(found)


keys = st.sampled_from(['"a"', '"b"', '"c:"', '"\\u0061"', '"q\\""'])
bodies = st.recursive(
    st.sampled_from(["1", "1.0", '"x"', '"\\":"', '"a\\\\"', "null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(keys, st.sampled_from([":", " :", ": "]), inner), max_size=4).map(
            lambda pairs: "{" + ",".join("".join(pair) for pair in pairs) + "}"
        )
    ),
    max_leaves=15,
)


@given(bodies)
def test_duplicates_agree_with_a_model(body: str) -> None:
    _, found = decode_strict(body.encode())
    texts = [text.removeprefix('duplicate field "').removesuffix('"').replace('\\"', '"') for text in found]
    assert sorted(texts) == sorted(model_duplicates(body))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner)
    ),
    max_leaves=20,
)


@given(json_values)
def test_values_round_trip(value: Any) -> None:
    assert decode(encode(value)) == value
    assert decode(pretty(value)) == value
    assert decode_strict(encode(value)) == (value, [])


@given(st.binary(max_size=60) | st.text(alphabet='{}[],:"\\u0a1.-+eEtrufalsn ', max_size=60).map(str.encode))
def test_decoding_raises_only_decode_error(body: bytes) -> None:
    for read in (decode, decode_strict):
        try:
            value = read(body)
        except DecodeError:
            continue
        assert encode(value)


def test_pretty_json_indents_by_two_spaces() -> None:
    assert pretty({"a": [1, {}], "b": []}) == b'{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}'


def test_sorted_json_is_canonical() -> None:
    assert encode_sorted({"b": 1, "a": {"d": 1, "c": 2}}) == b'{"a":{"c":2,"d":1},"b":1}'


def test_lone_surrogates_and_large_integers_can_be_encoded() -> None:
    assert encode({"a": 2**70, "b": "\ud800"}) == b'{"a":1180591620717411303424,"b":"\xef\xbf\xbd"}'


def test_values_that_json_does_not_have_are_rejected() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    for value in (object(), deep):
        with pytest.raises(EncodeError):
            encode(value)


def test_large_invalid_body_is_rejected_quickly() -> None:
    with pytest.raises(DecodeError):
        decode(b"[" + b"1," * 1_000_000)

"""Continue tokens."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.wire.continue_token import INCONSISTENT, ContinueToken, decode_token, encode_token

PREFIX = "/registry/pods/"


def raw(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def test_token_has_the_format_of_kubernetes() -> None:
    token = encode_token(ContinueToken(5, "/registry/pods/default/a"), PREFIX)
    assert base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)) == (
        b'{"v":"meta.k8s.io/v1","rv":5,"start":"default/a\\u0000"}'
    )
    assert "=" not in token


@pytest.mark.parametrize("revision", [1, 2**62, INCONSISTENT])
def test_token_round_trips(revision: int) -> None:
    token = ContinueToken(revision, "/registry/pods/default/a")
    assert decode_token(encode_token(token, PREFIX), PREFIX) == token


def test_token_of_a_namespaced_list_round_trips() -> None:
    token = ContinueToken(5, "/registry/pods/default/a")
    assert decode_token(encode_token(token, "/registry/pods/default/"), "/registry/pods/default/") == token


def test_key_outside_the_prefix_cannot_be_encoded() -> None:
    with pytest.raises(ValueError, match="the key and key prefix do not match"):
        encode_token(ContinueToken(5, "/registry/secrets/a"), PREFIX)


BAD = "continue key is not valid"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a$b", f"{BAD}: illegal base64 data at input byte 1"),
        ("a", f"{BAD}: illegal base64 data at input byte 0"),
        (raw("rubbish"), f"{BAD}: invalid character 'r' looking for beginning of value"),
        (raw("[]"), f"{BAD}: json: cannot unmarshal array into Go value of type storage.continueToken"),
        (raw('{"v":1}'), f"{BAD}: json: cannot unmarshal number into Go struct field continueToken.v of type string"),
        (
            raw('{"v":"meta.k8s.io/v1","rv":1.5}'),
            f"{BAD}: json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64",
        ),
        (
            raw('{"v":"meta.k8s.io/v1","rv":true}'),
            f"{BAD}: json: cannot unmarshal bool into Go struct field continueToken.rv of type int64",
        ),
        (
            raw('{"v":"meta.k8s.io/v1","rv":1,"start":[]}'),
            f"{BAD}: json: cannot unmarshal array into Go struct field continueToken.start of type string",
        ),
        (raw('{"v":"v2","rv":1,"start":"a"}'), f"{BAD}: server does not recognize this encoded version v2"),
        (raw("{}"), f"{BAD}: server does not recognize this encoded version "),
        (
            raw('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}'),
            f"{BAD}: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        (
            raw('{"v":"meta.k8s.io/v1","rv":1,"start":""}'),
            f"{BAD}: encoded start key empty (version meta.k8s.io/v1)",
        ),
        (raw('{"v":"meta.k8s.io/v1","rv":1,"start":"a/../b"}'), f"{BAD}: a/../b"),
        (raw('{"v":"meta.k8s.io/v1","rv":1,"start":"../b"}'), f"{BAD}: ../b"),
        (raw('{"v":"meta.k8s.io/v1","rv":1,"start":"a//b"}'), f"{BAD}: a//b"),
        (raw('{"v":"meta.k8s.io/v1","rv":1,"start":"./b"}'), f"{BAD}: ./b"),
        (raw('{"v":"meta.k8s.io/v1","rv":1,"start":"a/"}'), f"{BAD}: a/"),
    ],
)
def test_invalid_tokens_are_rejected(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="continue key") as caught:
        decode_token(text, PREFIX)
    assert str(caught.value) == error


@pytest.mark.parametrize("fields", [{"rv": "1"}, {"rv": True}, {"rv": 2**64}, {"rv": 1.5}, {"start": 5}, {"v": []}])
def test_tokens_with_fields_of_wrong_types_are_rejected(fields: dict[str, object]) -> None:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": 1, "start": "a", **fields})
    with pytest.raises(ValueError, match="continue key is not valid"):
        decode_token(raw(text), PREFIX)


def test_a_slash_at_the_start_is_tolerated() -> None:
    assert decode_token(raw('{"v":"meta.k8s.io/v1","rv":1,"start":"/a\\u0000"}'), PREFIX).start == "/registry/pods/a"


STARTS = st.lists(st.sampled_from(["..", ".", "", "a", "/", "\0", "%2e%2e", "\\"]), max_size=5).map("/".join)
# Text alone is hardly ever the JSON of a token.
FORGED = st.builds(
    lambda start, revision: raw(json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start})),
    STARTS | st.text(max_size=20),
    st.integers(-2, 2**63),
)


@given(st.text(max_size=60) | st.text(max_size=40).map(raw) | FORGED)
def test_decoding_raises_only_value_error(text: str) -> None:
    try:
        token = decode_token(text, PREFIX)
    except ValueError:
        return
    assert token.start.startswith(PREFIX)


names = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,8}[a-z0-9])?", fullmatch=True).filter(lambda name: ".." not in name)


@given(st.integers(1, 2**62), names, names)
def test_every_key_round_trips(revision: int, namespace: str, name: str) -> None:
    token = ContinueToken(revision, f"{PREFIX}{namespace}/{name}")
    assert decode_token(encode_token(token, PREFIX), PREFIX) == token

"""Bootstrap tokens and their signatures."""

import base64
import json

import pytest

from sampan.core.tokens.bootstrap import BootstrapToken, is_signed, new_token, parse_token, sign

TOKEN = BootstrapToken("abcdef", "0123456789abcdef")


def test_a_token_is_read_from_its_text_and_random_ones_differ() -> None:
    assert parse_token("abcdef.0123456789abcdef") == TOKEN
    assert parse_token(str(new_token())) != new_token()


@pytest.mark.parametrize("text", ["", "abcdef", "abcdef.0123456789abcde", "ABCDEF.0123456789abcdef", "abcdef.x\n"])
def test_a_malformed_token_is_refused_without_its_text(text: str) -> None:
    with pytest.raises(ValueError, match="6 and 16 of a-z and 0-9"):
        parse_token(text)


def test_the_secret_of_a_token_is_not_in_its_representation() -> None:
    assert TOKEN.secret not in repr(TOKEN)


def test_a_signature_names_the_token_and_leaves_out_the_text() -> None:
    header, payload, _ = sign("text", TOKEN).split(".")
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "HS256", "kid": "abcdef"}
    assert payload == ""


@pytest.mark.parametrize(
    ("content", "token"),
    [("text", BootstrapToken("abcdef", "0123456789abcdee")), ("other", TOKEN), ("text", BootstrapToken("x", "y"))],
)
def test_a_signature_is_valid_only_for_its_text_and_token(content: str, token: BootstrapToken) -> None:
    assert is_signed("text", sign("text", TOKEN), TOKEN)
    assert not is_signed(content, sign("text", TOKEN), token)


def test_a_signature_is_that_of_kubernetes() -> None:
    """Source: kubernetes cluster-bootstrap token/jws/jws_test.go (1.36)."""
    signature = "eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..7Ui1ALizW4jXphVUB7xUqC9vLYLL9RZeOFfVLoB7Tgk"
    assert sign("", BootstrapToken("joshua", "my voice is my passcode")) == signature

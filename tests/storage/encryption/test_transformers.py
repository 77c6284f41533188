"""Values in the form in which Kubernetes stores them: those that it wrote are read, and ours have the same form."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from hypothesis import given, settings
from hypothesis import strategies as st
from nacl.secret import SecretBox

from sampan.storage.encryption.transformer import EncryptionError, Plain, Transformer
from sampan.wire import protobuf
from tests.properties import examples
from tests.storage.encryption.keys import AT, KEY, OTHER, keys, providers

VALUE = b"k8s\x00\n\x0c\n\x02v1\x12\x06Secret"
IDENTITY: dict[str, Any] = {"identity": {}}
ALL = ("aesgcm", "aescbc", "secretbox")


def kubernetes_gcm(value: bytes, at: bytes) -> bytes:
    nonce = bytes(range(12))
    return b"k8s:enc:aesgcm:v1:k1:" + nonce + AESGCM(KEY).encrypt(nonce, value, at)


def kubernetes_cbc(value: bytes, at: bytes) -> bytes:
    start, padding = bytes(16), 16 - len(value) % 16
    encryptor = Cipher(AES(KEY), CBC(start)).encryptor()
    return b"k8s:enc:aescbc:v1:k1:" + start + encryptor.update(value + bytes([padding]) * padding)


def kubernetes_secretbox(value: bytes, at: bytes) -> bytes:
    return b"k8s:enc:secretbox:v1:k1:" + bytes(SecretBox(KEY).encrypt(value, bytes(24)))


KUBERNETES: dict[str, Callable[[bytes, bytes], bytes]] = {
    "aesgcm": kubernetes_gcm,
    "aescbc": kubernetes_cbc,
    "secretbox": kubernetes_secretbox,
}


STORED: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("kube_apiserver.json").read_text())
"""Records of a kube-apiserver 1.36.3 with `KEY`: by provider the key in etcd, and the value (base64)."""


def transformer(*parts: dict[str, Any]) -> Transformer:
    return providers(*parts).of("", "secrets")


@pytest.mark.parametrize("name", ALL)
def test_a_value_stored_by_a_kube_apiserver_is_read(name: str) -> None:
    key = STORED[name]["key"]
    read = transformer({name: keys(k1=KEY)}).read(base64.b64decode(STORED[name]["value"]), key.encode())
    kind = {"aescbc": "Secret", "aesgcm": "ServiceAccount", "secretbox": "ConfigMap"}[name]
    found = protobuf.decode(read.value)
    assert (found["kind"], found["metadata"]["name"], read.stale) == (kind, "kas", False)


@pytest.mark.parametrize("name", ALL)
def test_a_value_written_by_kubernetes_is_read(name: str) -> None:
    stored = KUBERNETES[name](VALUE, AT)
    assert transformer({name: keys(k1=KEY)}).read(stored, AT) == Plain(VALUE, False)


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=examples(50))
@given(value=st.binary(max_size=200), at=st.binary(max_size=40))
def test_a_written_value_is_read_again(name: str, value: bytes, at: bytes) -> None:
    found = transformer({name: keys(k1=KEY)})
    stored = found.write(value, at)
    assert stored.startswith(f"k8s:enc:{name}:v1:k1:".encode())
    assert found.read(stored, at) == Plain(value, False)
    assert found.write(value, at) != stored


@pytest.mark.parametrize("name", ["aesgcm", "secretbox"])
@settings(max_examples=examples(50))
@given(data=st.data())
def test_a_changed_byte_is_noticed(name: str, data: st.DataObject) -> None:
    found = transformer({name: keys(k1=KEY)})
    stored = bytearray(found.write(VALUE, AT))
    at = data.draw(st.integers(len(f"k8s:enc:{name}:v1:k1:"), len(stored) - 1))
    stored[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(EncryptionError):
        found.read(bytes(stored), AT)


def test_a_value_of_aesgcm_is_read_only_where_it_was_written() -> None:
    found = transformer({"aesgcm": keys(k1=KEY)})
    with pytest.raises(EncryptionError, match="cipher: message authentication failed"):
        found.read(found.write(VALUE, AT), AT + b"b")


@pytest.mark.parametrize(
    ("parts", "stale"),
    [
        ([{"aesgcm": keys(k1=KEY)}, IDENTITY], False),
        ([{"aesgcm": keys(k2=OTHER, k1=KEY)}], True),
        ([{"secretbox": keys(k1=KEY)}, {"aesgcm": keys(k1=KEY)}], True),
        ([IDENTITY, {"aesgcm": keys(k1=KEY)}], True),
        ([{"aesgcm": keys(k1=OTHER)}, {"aesgcm": keys(k1=KEY)}], True),
    ],
    ids=["the writer", "a later key", "a later provider", "decrypting all", "the same name, another key"],
)
def test_all_providers_read_and_what_the_first_did_not_write_is_stale(parts: list[dict[str, Any]], stale: bool) -> None:
    assert transformer(*parts).read(kubernetes_gcm(VALUE, AT), AT) == Plain(VALUE, stale)


def test_a_plain_value_is_read_by_identity_and_is_stale_after_another_provider() -> None:
    assert transformer(IDENTITY).read(VALUE, AT) == Plain(VALUE, False)
    assert transformer({"aesgcm": keys(k1=KEY)}, IDENTITY).read(VALUE, AT) == Plain(VALUE, True)


@pytest.mark.parametrize(
    ("parts", "stored", "text"),
    [
        ([IDENTITY], kubernetes_gcm(VALUE, AT), "no matching prefix found"),
        ([{"secretbox": keys(k1=KEY)}], kubernetes_gcm(VALUE, AT), "no matching prefix found"),
        ([{"aesgcm": keys(k1=KEY)}], VALUE, "no matching prefix found"),
        (
            [{"aesgcm": keys(k2=KEY)}],
            kubernetes_gcm(VALUE, AT),
            "no matching key was found for the provided AES transformer",
        ),
        ([{"aesgcm": keys(k1=OTHER)}], kubernetes_gcm(VALUE, AT), "cipher: message authentication failed"),
        ([{"aesgcm": keys(k1=KEY)}], b"k8s:enc:aesgcm:v1:k1:x", "the stored data was shorter than the required size"),
        ([{"aescbc": keys(k1=KEY)}], b"k8s:enc:aescbc:v1:k1:" + bytes(17), "not a multiple of the block size"),
        ([{"aescbc": keys(k1=KEY)}], b"k8s:enc:aescbc:v1:k1:" + bytes(16), "invalid PKCS7 data"),
    ],
)
def test_an_unreadable_value_is_an_error(parts: list[dict[str, Any]], stored: bytes, text: str) -> None:
    with pytest.raises(EncryptionError, match=text):
        transformer(*parts).read(stored, AT)

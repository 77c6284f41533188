"""EncryptionConfiguration: errors name the fault and do not show secrets."""

from typing import Any

import pytest

from sampan.storage.encryption.configuration import parse_configuration
from sampan.storage.encryption.providers import Providers
from sampan.storage.encryption.transformer import Identity
from tests.storage.encryption.keys import KEY, OTHER, content, keys, providers

AES = {"aesgcm": keys(k1=KEY)}
KMS = {"kms": {"apiVersion": "v2", "name": "k", "endpoint": "unix:///tmp/kms.sock"}}


def kms(**changed: Any) -> dict[str, Any]:
    return {"kms": {**KMS["kms"], **changed}}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ((["secrets"], []), "resources[0].providers: Required value: at least one resources[0].providers is required"),
        (([], [AES]), "resources[0].resources: Required value"),
        ((["Secrets"], [AES]), "resource name should not contain capital letters"),
        ((["*"], [AES]), "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
        ((["pods.*"], [AES]), "encrypting the same resource across groups is not supported"),
        ((["events.events.k8s.io"], [AES]), "Use 'events' instead in the config file"),
        ((["ingresses.extensions"], [AES]), "'extensions' group has been removed"),
        ((["serviceipallocations"], [AES]), "resources which do not have REST API/s cannot be encrypted"),
        ((["secrets", "secrets"], [AES]), "the same resource cannot be specified multiple times"),
        ((["secrets", "*."], [AES]), "overlapping resources"),
        ((["secrets.apps", "*.*"], [AES]), "overlapping resources"),
        ((["secrets"], [{}]), "provider does not contain any of the expected providers"),
        ((["secrets"], [{**AES, "identity": {}}]), "more than one provider specified in a single element"),
        ((["secrets"], [{"aesgcm": {"keys": []}}]), "aesgcm.keys: Required value: at least one keys is required"),
        ((["secrets"], [{"secretbox": keys(k1=KEY[:16])}]), "got 16, expected one of [32]"),
        ((["secrets"], [{"aescbc": keys(k1=KEY[:9])}]), "got 9, expected one of [16 24 32]"),
        ((["secrets"], [{"aesgcm": {"keys": [{"name": "k", "secret": "?"}]}}]), "secrets must be base64 encoded"),
        ((["secrets"], [{"aesgcm": {"keys": [{"secret": "aaaa"}]}}]), "name is a mandatory field for a key"),
        ((["secrets"], [kms(name="")]), "name is a mandatory field for a provider"),
        ((["secrets"], [kms(name="a:b")]), "must not contain ':'"),
        ((["secrets"], [KMS, KMS]), "duplicate KMS provider name k, names must be unique"),
        ((["secrets"], [kms(endpoint="tcp://a")]), 'unsupported scheme "tcp" for KMS provider'),
        ((["secrets"], [kms(timeout="0s")]), "timeout should be a positive value"),
        ((["secrets"], [kms(cachesize=7)]), "cachesize is not supported in v2"),
        ((["secrets"], [kms(apiVersion="v3")]), "only v1 and v2 are supported"),
        ((["secrets"], [{"rot13": {}}]), "strict decoding error"),
    ],
)
def test_faults_are_reported(rule: tuple[list[str], list[dict[str, Any]]], text: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_configuration(content(rule))
    assert text in str(raised.value)


@pytest.mark.parametrize("text", [b"", b"[]", b"kind: EncryptionConfiguration", b"a: [", b"apiVersion: v1\nkind: Pod"])
def test_other_files_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError):
        parse_configuration(text)


def test_secrets_do_not_show() -> None:
    parsed = parse_configuration(content((["secrets"], [AES])))
    assert keys(k1=KEY)["keys"][0]["secret"] not in repr(parsed)


def test_a_rule_behind_a_wider_one_is_refused() -> None:
    parsed = parse_configuration(content((["*."], [AES]), (["secrets"], [AES])))
    with pytest.raises(ValueError, match=r'resource "secrets" is masked by earlier rule "\*\."'):
        Providers(parsed)


def test_kms_v1_is_refused() -> None:
    with pytest.raises(ValueError, match="KMSv1 is deprecated"):
        providers(kms(apiVersion="v1"))


def test_the_closest_rule_counts() -> None:
    wide, narrow, all_of = {"aesgcm": keys(wide=KEY)}, {"aesgcm": keys(narrow=OTHER)}, {"aesgcm": keys(all=KEY)}
    parsed = parse_configuration(content((["secrets"], [narrow]), (["*."], [wide]), (["*.*"], [all_of])))
    found = Providers(parsed)
    written = [found.of(*resource).write(b"v", b"") for resource in (("", "secrets"), ("", "pods"), ("apps", "x"))]
    assert [value.split(b":")[4] for value in written] == [b"narrow", b"wide", b"all"]


def test_without_a_rule_nothing_is_encrypted() -> None:
    assert isinstance(providers(AES).of("", "pods"), Identity)

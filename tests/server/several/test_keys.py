"""Servers on one store that lack each other's keys log a warning."""

import logging
from pathlib import Path

import pytest

from sampan.app.access.authentication import Authentication
from sampan.app.settings.up import UpSettings
from sampan.registry.cluster import Cluster
from sampan.server.pki.client_verifier import ClientCertificateVerifier, read_authorities
from sampan.server.pki.directory import prepare_credentials
from sampan.server.post_start_hooks.api_servers.identity_lease import LATELY, IdentityLease, ServerName
from sampan.server.post_start_hooks.api_servers.keys import KeyUse, ServerKeys, annotation_of, differences, keys_of
from sampan.storage.memory import MemoryStore
from tests.server.several.test_servers import Hours, server

ONE = {"ca": KeyUse("c1", frozenset({"c1"})), "service-accounts": KeyUse("s1", frozenset({"s1"}))}
OTHER_CA = {**ONE, "ca": KeyUse("c2", frozenset({"c2"}))}
ROTATING = {**ONE, "service-accounts": KeyUse("s2", frozenset({"s1", "s2"}))}
ROTATED = {**ONE, "service-accounts": KeyUse("s1", frozenset({"s1", "s2"}))}


@pytest.mark.parametrize(
    ("own", "other", "about"),
    [
        (ONE, ONE, []),
        (ONE, OTHER_CA, ["ca.key"]),
        (OTHER_CA, ONE, ["ca.key"]),
        (ROTATING, ROTATED, []),
        (ROTATING, ONE, ["sa.key"]),
        (ONE, {}, []),
    ],
    ids=["the same", "another CA", "the other way round", "both known to both", "known to one", "an older server"],
)
def test_differences_are_what_one_uses_and_the_other_does_not_know(
    own: ServerKeys, other: ServerKeys, about: list[str]
) -> None:
    found = differences(own, keys_of(annotation_of(other)))
    assert len(found) == len(about)
    assert all(word in text for word, text in zip(about, found, strict=True))


@pytest.mark.parametrize("annotation", ["", "x", "[]", '{"ca": []}', '{"ca": 1}', "null"])
def test_an_invalid_annotation_has_no_keys(annotation: str) -> None:
    assert keys_of(annotation) == {}


async def test_a_server_warns_once_of_a_living_one_with_other_keys(caplog: pytest.LogCaptureFixture) -> None:
    async with server(MemoryStore(), "10.0.0.1") as one:
        endpoint = one.cluster.endpoint("coordination.k8s.io", "v1", "leases")
        assert endpoint is not None
        clock = Hours()
        first = IdentityLease(endpoint.store, clock, ServerName("host", 6443), ONE)
        await first.renew()
        second = IdentityLease(endpoint.store, clock, ServerName("host", 7443), OTHER_CA)
        await endpoint.store.cache.fresh()
        assert second.compare() == [], "the Lease may come from a restored snapshot"
        clock.time += LATELY / 3
        await first.renew()
        await endpoint.store.cache.fresh()
        assert first.compare() == []
        with caplog.at_level(logging.ERROR):
            found = [second.compare(), second.compare()]
        assert [len(each) for each in found] == [1, 1]
        assert len([each for each in caplog.records if each.levelno >= logging.ERROR]) == 1
        assert "copy pki/ca.crt and pki/ca.key" in caplog.text
        clock.time += LATELY
        assert second.compare() == []


async def test_servers_with_separate_directories_have_other_keys_and_copies_have_the_same(tmp_path: Path) -> None:
    assert len(differences(_keys(tmp_path / "a"), _keys(tmp_path / "b"))) == 3
    assert differences(_keys(tmp_path / "a"), _keys(tmp_path / "a")) == []


def _keys(data: Path) -> ServerKeys:
    settings = UpSettings(data=data)
    cluster = Cluster(MemoryStore())
    credentials = prepare_credentials(data, ["127.0.0.1"], cluster.clock.now())
    verifier = ClientCertificateVerifier(read_authorities(credentials.ca_pem))
    return Authentication(settings, credentials, verifier, cluster, lambda: "127.0.0.1:6443").keys

"""Renewal of certificates: the decisions, then real handshakes with a clock that is set by hand."""

import asyncio
import datetime
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.tls.certificates import covers, make_authority, make_server_certificate, signed_by
from sampan.operator.manager import ManagerOptions
from sampan.operator.webhook.certificates import (
    CertificateFiles,
    CertificateTerms,
    DirectoryStore,
    IssuedCertificates,
    Stored,
)
from sampan.operator.webhook.certificates.certificate_set import CertificateSet, read_set
from sampan.operator.webhook.certificates.rotation import next_renewal, renewed
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.manager.frame import manager
from tests.operator.webhook.frame import START, FixedClock, MemoryCertificates, fetch, running, webhook_server

HOSTS = ("127.0.0.1", "hook.net.svc")
TERMS = CertificateTerms()
DAY = datetime.timedelta(days=1)


def first() -> CertificateSet:
    return renewed(None, HOSTS, START, TERMS)


def is_trusted(bundle: CertificateSet, certificate: x509.Certificate) -> bool:
    return any(signed_by(certificate, authority) for authority in bundle.authorities)


def test_the_first_set_is_for_all_hosts_and_stays_until_it_is_due() -> None:
    current = first()
    assert covers(current.serving.certificate, HOSTS)
    assert renewed(current, HOSTS, START + 59 * DAY, TERMS) is current
    assert next_renewal(current, TERMS) == START + 60 * DAY


def test_a_serving_certificate_is_renewed_in_time_by_the_same_authority() -> None:
    current = first()
    after = renewed(current, HOSTS, START + 60 * DAY, TERMS)
    assert after.serving.certificate != current.serving.certificate
    assert after.authorities == current.authorities
    assert after.retired == (current.serving.certificate,)
    assert renewed(after, HOSTS, START + 90 * DAY, TERMS).retired == ()


def test_a_new_authority_is_trusted_before_it_signs_and_the_old_one_until_nothing_of_it_is_shown() -> None:
    current = first()
    begin = START + (3650 - 365) * DAY
    current = renewed(renewed(current, HOSTS, begin - DAY, TERMS), HOSTS, begin, TERMS)
    old, new = current.authorities
    assert signed_by(current.serving.certificate, old)
    assert next_renewal(current, TERMS) == begin + TERMS.overlap

    current = renewed(current, HOSTS, begin + TERMS.overlap, TERMS)
    assert signed_by(current.serving.certificate, new)
    assert current.authorities == (old, new)
    assert [pair.certificate for pair in current.signers] == [new]

    ended = current.retired[-1].not_valid_after_utc
    current = renewed(current, HOSTS, ended - datetime.timedelta(seconds=1), TERMS)
    assert current.authorities == (old, new)
    assert renewed(current, HOSTS, ended, TERMS).authorities == (new,)


@given(st.lists(st.sampled_from([1 / 24, 0.5, 10, 29, 31, 61]), min_size=1, max_size=40))
def test_each_certificate_is_trusted_with_the_authorities_of_the_next_step(
    steps: Any,
) -> None:
    terms = CertificateTerms(authority_lifetime=300 * DAY, authority_renew_before=100 * DAY)
    now, current = START, renewed(None, HOSTS, START, terms)
    for step in steps:
        before, now = current, now + datetime.timedelta(days=step)
        current = renewed(before, HOSTS, now, terms)
        shown = current.serving.certificate
        assert shown.not_valid_after_utc > now
        assert is_trusted(current, shown)
        assert is_trusted(before, shown) or not any(
            each.certificate.not_valid_after_utc > now for each in before.signers
        )
        if before.serving.certificate.not_valid_after_utc > now:
            assert is_trusted(current, before.serving.certificate)
        assert renewed(current, HOSTS, now, terms) is current
        assert next_renewal(current, terms) > now
        assert len(current.authorities) <= 3


def test_hosts_that_are_missing_are_added_to_those_of_other_replicas() -> None:
    after = renewed(first(), ("10.0.0.1",), START, TERMS)
    assert covers(after.serving.certificate, (*HOSTS, "10.0.0.1"))
    assert renewed(after, HOSTS, START, TERMS) is after


def test_a_set_without_keys_begins_again_and_what_is_shown_stays_trusted() -> None:
    current = first()
    files = {**current.files(), "ca.key": b""}
    after = renewed(read_set(files), HOSTS, START, TERMS)
    assert is_trusted(after, current.serving.certificate)
    assert is_trusted(after, after.serving.certificate)


def test_a_set_comes_back_from_its_files() -> None:
    current = renewed(first(), HOSTS, START + 60 * DAY, TERMS)
    assert read_set(current.files()).files() == current.files()


@pytest.mark.parametrize("name", ["tls.crt", "tls.key", "ca.crt", "ca.key"])
def test_half_a_set_is_none(name: str) -> None:
    files = first().files()
    del files[name]
    with pytest.raises(ValueError, match=name):
        read_set(files)


@pytest.mark.parametrize(
    "terms",
    [{"renew_before": 90 * DAY}, {"authority_renew_before": 90 * DAY}, {"authority_lifetime": 365 * DAY}],
    ids=["serving", "overlap", "authority"],
)
def test_terms_must_leave_time(terms: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        CertificateTerms(**terms)


async def test_replicas_that_race_for_the_first_certificates_end_with_the_same() -> None:
    store, clock = MemoryCertificates(), FixedClock()
    replicas = [IssuedCertificates(store, HOSTS, clock) for _ in range(5)]
    async with asyncio.TaskGroup() as tasks:
        for replica in replicas:
            tasks.create_task(replica.refresh())
    assert store.saves == 1
    assert len({replica.material.certificate for replica in replicas}) == 1


async def test_a_store_that_always_changes_is_given_up_for_now() -> None:
    store = MemoryCertificates()

    def interfere() -> None:
        store.stored = Stored({}, "x")

    store.before_save = interfere
    with pytest.raises(OSError, match="other replicas keep changing the certificates"):
        await IssuedCertificates(store, HOSTS, FixedClock()).refresh()


@virtual_time
async def test_certificates_are_renewed_while_it_runs_and_replicas_follow() -> None:
    store, clock = MemoryCertificates(), FixedClock()
    replicas = [IssuedCertificates(store, HOSTS, clock) for _ in range(2)]
    tasks = [asyncio.create_task(replica.run()) for replica in replicas]
    await asyncio.gather(*(replica.ready() for replica in replicas))
    before = replicas[0].material
    clock.advance(days=60)
    await asyncio.sleep(3600)
    await settle()
    assert replicas[0].material.certificate != before.certificate
    assert replicas[0].material == replicas[1].material
    assert store.saves == 2
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


@virtual_time
async def test_a_store_that_fails_is_called_again() -> None:
    store = MemoryCertificates()
    failures = iter([True, True, False])

    def fail() -> None:
        if next(failures):
            raise OSError("no")

    store.before_save = fail
    certificates = IssuedCertificates(store, HOSTS, FixedClock())
    task = asyncio.create_task(certificates.run())
    await certificates.ready()
    assert store.saves == 1
    task.cancel()
    await asyncio.wait({task})


async def test_a_server_shows_new_certificates_without_a_restart_and_old_clients_go_on() -> None:
    clock = FixedClock(datetime.datetime.now(datetime.UTC) - 61 * DAY)
    server = webhook_server(made=manager(ManagerOptions(clock=clock)))
    async with running(server):
        before = server.certificates.material
        context = ssl.create_default_context(cadata=before.ca_bundle.decode())
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, ssl=context)
        clock.advance(days=61)
        await server.certificates.refresh()
        assert server.certificates.material.certificate != before.certificate
        assert (await fetch(server, "/", {}))[0] == 404
        _, fresh = await asyncio.open_connection("127.0.0.1", server.port, ssl=context)
        shown = fresh.get_extra_info("ssl_object").getpeercert(binary_form=True)
        assert ssl.DER_cert_to_PEM_cert(shown).encode() == server.certificates.material.certificate
        writer.write(b"GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 404")
        writer.close()
        fresh.close()


def put(directory: Path, common_name: str, *, ca: bool = True) -> bytes:
    """Files as cert-manager writes them; gives the certificate."""
    authority = make_authority(common_name, START, 3650 * DAY)
    pair = make_server_certificate(authority, ["127.0.0.1"], START, 3650 * DAY, common_name=common_name)
    (directory / "tls.crt").write_bytes(pair.certificate_pem())
    (directory / "tls.key").write_bytes(pair.key_pem())
    if ca:
        (directory / "ca.crt").write_bytes(authority.certificate_pem())
    return pair.certificate_pem()


@virtual_time
async def test_certificate_files_are_awaited_and_reloaded(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path)
    changes: list[bytes] = []
    files.listen(lambda: changes.append(files.material.certificate))
    task = asyncio.create_task(files.run())
    await asyncio.sleep(30)
    with pytest.raises(RuntimeError, match="there are no certificates yet"):
        _ = files.material
    one = put(tmp_path, "one")
    await asyncio.sleep(11)
    (tmp_path / "tls.key").write_bytes(first().serving.key_pem())
    await asyncio.sleep(11)
    two = put(tmp_path, "two", ca=False)
    await asyncio.sleep(11)
    assert changes == [one, two]
    task.cancel()
    await asyncio.wait({task})


async def test_of_two_processes_that_share_a_directory_one_wins(tmp_path: Path) -> None:
    one, two = DirectoryStore(tmp_path), DirectoryStore(tmp_path)
    assert await one.load() is None
    assert await one.save({"tls.crt": b"1"}, None)
    assert not await two.save({"tls.crt": b"2"}, None)
    observed = await two.load()
    assert observed is not None
    assert observed.files == {"tls.crt": b"1"}
    assert await two.save({"tls.crt": b"2"}, observed)
    assert not await one.save({"tls.crt": b"3"}, observed)


@virtual_time
async def test_a_directory_changed_by_another_process_is_noticed(tmp_path: Path) -> None:
    store, changed = DirectoryStore(tmp_path), asyncio.Event()
    task = asyncio.create_task(store.watch(changed.set))
    await settle()
    await DirectoryStore(tmp_path).save({"tls.crt": b"1"}, None)
    await changed.wait()
    task.cancel()
    await asyncio.wait({task})

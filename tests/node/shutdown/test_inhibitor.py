"""Lock of systemd, with programs of the test in place of systemd's."""

import asyncio
from pathlib import Path

import pytest

from sampan.node.shutdown.inhibitor import Inhibitor, announces, has_systemd

_CAT = '#!/bin/sh\necho "$@" > {log}\nwhile [ "${{1#--}}" != "$1" ]; do shift; done\n"$@"\necho released >> {log}\n'
_BUSCTL = """#!/bin/sh
case "$*" in
*get-property*) echo 't 5000000' ;;
*) echo '{"type":"signal","member":"PrepareForShutdown","payload":{"type":"b","data":[false]}}'
   echo '{"type":"signal","member":"PrepareForShutdown","payload":{"type":"b","data":[true]}}'
   exec sleep 1000 ;;
esac
"""


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put programs with systemd's names first on PATH. Returns the log of the lock."""
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "log"
    for name, text in (("systemd-inhibit", _CAT.format(log=log)), ("busctl", _BUSCTL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return log


def text(path: Path) -> str:
    return path.read_text()


async def test_lock_is_held_until_it_is_released(systemd: Path, caplog: pytest.LogCaptureFixture) -> None:
    inhibitor = Inhibitor()
    async with asyncio.timeout(20):
        await inhibitor.acquire(30.0)
        await inhibitor.announced()
        assert "--what=shutdown --mode=delay" in text(systemd)
        assert "released" not in text(systemd)
        await inhibitor.release()
    assert "released" in text(systemd)
    assert "InhibitDelayMaxSec" in caplog.text


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"member":"PrepareForShutdown","payload":{"data":[true]}}', True),
        (b'{"member":"PrepareForShutdown","payload":{"data":[false]}}', False),
        (b'{"member":"Other","payload":{"data":[true]}}', False),
        (b"[]", False),
        (b"Monitoring bus message stream.", False),
    ],
    ids=["shutdown", "cancelled", "another signal", "no message", "no JSON"],
)
def test_only_the_announcement_counts(line: bytes, found: bool) -> None:
    assert announces(line) is found


def test_machine_without_systemd(tmp_path: Path) -> None:
    assert not has_systemd(tmp_path / "missing")

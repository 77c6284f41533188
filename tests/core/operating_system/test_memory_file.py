"""Content under a path."""

import datetime as dt
import ssl
import sys
import tempfile
from pathlib import Path

import pytest

from sampan.core.operating_system.memory_file import memory_file
from sampan.core.tls.certificates import make_authority
from sampan.http.client.tls import ClientCertificate, load_certificate


def test_a_file_can_be_read_repeatedly_from_its_beginning() -> None:
    with memory_file(b"content") as path:
        assert [Path(path).read_bytes() for _ in range(2)] == [b"content", b"content"]


def test_a_file_is_gone_after_the_block() -> None:
    with memory_file(b"content") as path:
        identity = Path(path).stat().st_ino
    assert not Path(path).exists() or Path(path).stat().st_ino != identity


def test_a_file_is_gone_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), memory_file(b"content") as path:
        raise ZeroDivisionError
    assert not Path(path).exists() or Path(path).read_bytes() != b"content"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files in memory")
def test_a_certificate_is_loaded_without_a_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/absent")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    pair = make_authority("tests", dt.datetime.now(dt.UTC), dt.timedelta(hours=1))
    load_certificate(context, ClientCertificate(pair.certificate_pem(), pair.key_pem()))
    with pytest.raises(ssl.SSLError):
        load_certificate(context, ClientCertificate(b"no certificate", b""))

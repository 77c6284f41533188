"""Names of other machines are found as the system finds them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.storage.etcd.server import etcd_binary

_APART = ("unshare", "--net", "--mount")


def _possible() -> bool:
    return etcd_binary() is not None and subprocess.run([*_APART, "true"], check=False).returncode == 0


@pytest.mark.skipif(not _possible(), reason="no etcd, or namespaces are not permitted here")
def test_an_etcd_named_in_the_hosts_file_is_reached_without_a_name_server(tmp_path: Path) -> None:
    line = [*_APART, sys.executable, "-m", "tests.cli.silent_names", str(tmp_path)]
    reported = subprocess.run(line, capture_output=True, text=True, check=False)
    assert reported.stdout == f"saved 1 key at revision 2 to {tmp_path / 'file'}\n", reported.stderr

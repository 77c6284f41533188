"""`make cluster`: the cluster is used from this machine, and removed on Ctrl-C."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.machines import missing

pytestmark = pytest.mark.e2e


def test_a_cluster_to_try_out_ends_without_a_trace(tmp_path: Path) -> None:
    lacking = missing() or ("" if shutil.which("kubectl") else "kubectl is not on PATH")
    if lacking:
        pytest.skip(f"containerd: {lacking}")
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": str(tmp_path), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "tests.e2e.cri", "--nodes=1"]
    process = subprocess.Popen(
        command, env=environment | _python_path(), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        found = next(filter(None, (re.search(r"KUBECONFIG=(\S+)", line) for line in process.stdout)))
        kubectl = ["kubectl", f"--kubeconfig={found[1]}", "get", "nodes", "--no-headers"]
        listed = subprocess.run(kubectl, env=environment, capture_output=True, text=True, timeout=30, check=True).stdout
        assert listed.split()[:2] == ["node-1", "Ready"]
    finally:
        process.send_signal(signal.SIGINT)
        last, _ = process.communicate(timeout=30)
    assert (process.returncode, last.splitlines()[-1]) == (0, "removed")
    assert list(tmp_path.glob("sampan-cluster-*")) == []


def _python_path() -> dict[str, str]:
    root = Path(__file__).parents[3]
    return {"PYTHONPATH": f"{root / 'src'}:{root}"}

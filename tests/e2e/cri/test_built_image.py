"""The image of `sampan build` runs in containerd, installed by the manifests of `sampan bundle`."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scripts.install.projects import OPERATOR, ROOT, SERVER

from tests.e2e.cri.conftest import Cluster
from tests.machines import require_program

pytestmark = pytest.mark.e2e

NAME = "registry.test/team/boats:0.1.0"


def sampan(*arguments: str, folder: Path) -> str:
    """Run `sampan` in a folder, and return its stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "sampan", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project with a base made of Debian's packages, and with the wheels of this checkout."""
    require_program("mmdebstrap")
    folder = tmp_path_factory.mktemp("project")
    for source in (SERVER, OPERATOR):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheels")],
            cwd=source,
            check=True,
            stdout=subprocess.DEVNULL,
        )
    sampan("init", "boats", "--sampan-wheels", str(folder / "wheels"), folder=folder)
    root = folder / "boats"
    sampan("create", "api", "--kind", "Boat", "--field", "length:int>0", folder=root)
    sampan("create", "webhook", "--kind", "Boat", folder=root)
    check = root / "src/boats/boat/webhook.py"
    check.write_text(check.read_text().replace("return []", 'return ["a tug"] if new.spec.length < 101 else _refuse()'))
    with check.open("a") as file:
        file.write('\n\ndef _refuse() -> Findings:\n    raise ValueError("too long")\n')
    subprocess.run(
        [sys.executable, "-c", _MAKE_BASE, str(root / "base.tar")], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    with (root / "pyproject.toml").open("a") as file:
        file.write(f'\n[tool.sampan.image]\nname = "{NAME}"\nbase = "base.tar"\nplatforms = ["linux/amd64"]\n')
    return root


_MAKE_BASE = """
import sys, datetime, pathlib
from scripts.release.image import make_base
make_base(pathlib.Path(sys.argv[1]), datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC))
"""


def test_a_built_operator_runs_as_its_manifests_describe(project: Path, cluster: Cluster) -> None:
    """Its account has only the rights of the manifests, and its Pods are restricted and behind a NetworkPolicy."""
    sampan("build", folder=project)
    cluster.containerd.load(project / "dist" / "boats-0.1.0.oci.tar")
    sampan("bundle", folder=project)
    kubectl = replace(cluster.kubectl, namespace="boats-system")
    kubectl("apply", "-f", str(project / "dist"))
    kubectl("wait", "--for=condition=Available", "deploy/boats", "--timeout=50s")
    sample = next((project / "samples").iterdir())
    # The first requests may come before the API servers have read the caBundle.
    cluster.until(lambda: cluster.kubectl.run("apply", "-f", str(sample)).returncode == 0, "an admitted object")
    done = cluster.kubectl.run("wait", "--for=condition=Ready", "boats", "--all", "--timeout=30s")
    logs = kubectl("logs", "deploy/boats")
    assert done.returncode == 0, f"{done.stderr}\n{logs}"
    assert "the cluster lacks a part" not in logs
    long = sample.read_text().replace("name: example", "name: long").replace("length: 1", "length: 101")
    refused = cluster.kubectl.run("apply", "-f", "-", stdin=long)
    assert "too long" in refused.stderr
    kubectl("delete", "-f", str(project / "dist"), "--wait=false")
    cluster.until(lambda: not kubectl("get", "pods", "-o", "name"), "the end of the Pod")

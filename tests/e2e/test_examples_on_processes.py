"""Examples 10 to 13 on a node that runs processes, with real databases, a real DNS server and a real HAProxy."""

import pwd
import shutil
from pathlib import Path

import pytest

from tests.cli.server import running
from tests.e2e import restored_ledgers, upgraded_ledger
from tests.e2e.conftest import kubectl_environment
from tests.e2e.kubectl import Kubectl
from tests.e2e.published_shop import Story, sample
from tests.machines import require_package, require_program
from tests.ports import free_port

pytestmark = pytest.mark.e2e


def test_a_shop_is_deployed_and_published_from_processes(program: str, tmp_path: Path) -> None:
    require_package("bind9", Path("/usr/sbin/named").exists)
    require_program("haproxy")
    with running(tmp_path / "data", "--storage=memory", "--node-runtime=process", loops=True) as server:
        kubectl = Kubectl(program, kubectl_environment(server, tmp_path), "default")
        kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=50s")
        Story(kubectl).run(sample(port=free_port()), tmp_path)


def test_ledgers_of_processes_are_backed_up_and_restored(program: str, tmp_path: Path) -> None:
    require_package("postgresql", lambda: shutil.which("psql"))
    options = ("--storage=memory", "--node-runtime=process", "--local-path=true")
    ledgers = [
        restored_ledgers.sample("ledger.yaml", image="host"),
        restored_ledgers.sample("ledger_postgresql.yaml", image="host", user=pwd.getpwnam("postgres").pw_uid),
    ]
    with running(tmp_path / "data", *options, loops=True) as server:
        kubectl = Kubectl(program, kubectl_environment(server, tmp_path), "default")
        kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=50s")
        restored_ledgers.Story(kubectl, ledgers).run(tmp_path / "log")


def test_a_ledger_of_processes_is_upgraded_with_its_schema(program: str, tmp_path: Path) -> None:
    options = ("--storage=memory", "--node-runtime=process", "--local-path=true")
    with running(tmp_path / "data", *options, loops=True) as server:
        kubectl = Kubectl(program, kubectl_environment(server, tmp_path), "default")
        kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=50s")
        upgraded_ledger.Story(kubectl).run(upgraded_ledger.sample(image="host"), tmp_path / "log")

"""Examples 10 to 13 with containers; with real databases, and a real DNS server and HAProxy on the node."""

from pathlib import Path

import pytest

from tests.e2e import restored_ledgers, upgraded_ledger
from tests.e2e.cri import image, python_image
from tests.e2e.cri.conftest import Cluster
from tests.e2e.published_shop import Story, sample
from tests.journeys import postgresql_image
from tests.machines import require_package, require_program

pytestmark = pytest.mark.e2e

SERVE = 'mkdir /tmp/www && printf "%s" "$GREETING" > /tmp/www/index.html && exec httpd -f -p "$PORT" -h /tmp/www'


def test_a_shop_is_deployed_and_published_from_containers(cluster: Cluster, tmp_path: Path) -> None:
    require_package("bind9", Path("/usr/sbin/named").exists)
    require_program("haproxy")
    shop = sample(image=image.APP, command=["sh", "-c", SERVE])
    Story(cluster.kubectl, cluster.machine.enter).run(shop, tmp_path)


def test_ledgers_of_containers_are_backed_up_and_restored(cluster: Cluster, tmp_path: Path) -> None:
    for number, each in enumerate((python_image, postgresql_image)):
        each.build(tmp_path / f"{number}.tar")
        cluster.containerd.load(tmp_path / f"{number}.tar")
    ledgers = [
        restored_ledgers.sample("ledger.yaml", image=python_image.NAME),
        restored_ledgers.sample("ledger_postgresql.yaml", image=postgresql_image.NAME, user=postgresql_image.USER),
    ]
    restored_ledgers.Story(cluster.kubectl, ledgers, cluster.machine.enter).run(tmp_path / "log")


def test_a_ledger_of_containers_is_upgraded_with_its_schema(cluster: Cluster, tmp_path: Path) -> None:
    python_image.build(tmp_path / "python.tar")
    cluster.containerd.load(tmp_path / "python.tar")
    ledger = upgraded_ledger.sample(image=python_image.NAME)
    upgraded_ledger.Story(cluster.kubectl, cluster.machine.enter).run(ledger, tmp_path / "log")

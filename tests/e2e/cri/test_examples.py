"""Examples 10 and 13 with containers, a real DNS server and a real HAProxy on the machine of the node."""

from pathlib import Path

import pytest

from tests.e2e.cri import image
from tests.e2e.cri.conftest import Cluster
from tests.e2e.published_shop import Story, sample
from tests.machines import require_package, require_program

pytestmark = pytest.mark.e2e

SERVE = 'mkdir /tmp/www && printf "%s" "$GREETING" > /tmp/www/index.html && exec httpd -f -p "$PORT" -h /tmp/www'


def test_a_shop_is_deployed_and_published_from_containers(cluster: Cluster, tmp_path: Path) -> None:
    require_package("bind9", Path("/usr/sbin/named").exists)
    require_program("haproxy")
    shop = sample(image=image.APP, command=["sh", "-c", SERVE])
    Story(cluster.kubectl, cluster.machine.enter).run(shop, tmp_path)

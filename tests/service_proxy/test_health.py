"""Health of a proxy, and health checks of Services."""

import asyncio
import json
from typing import Any

from sampan.http.server import Request
from sampan.service_proxy.health import STALE_S, ProxyHealth
from sampan.service_proxy.health_checks import HealthChecks
from sampan.service_proxy.model import Model
from sampan.testing.time.virtual_time import virtual_time
from tests.service_proxy.objects import NODE, piece, service


async def codes(health: ProxyHealth) -> tuple[int, int]:
    healthz = await health.respond(Request("GET", "/healthz"))
    livez = await health.respond(Request("GET", "/livez"))
    return healthz.code, livez.code


async def test_a_node_that_is_deleted_is_not_healthy_but_live() -> None:
    health = ProxyHealth()
    health.written()
    assert await codes(health) == (200, 200)
    health.node_stays = False
    assert await codes(health) == (503, 200)
    assert json.loads((await health.respond(Request("GET", "/healthz"))).body)["nodeEligible"] is False


async def test_a_proxy_is_unhealthy_before_its_first_rules() -> None:
    assert await codes(ProxyHealth()) == (503, 503)


@virtual_time
async def test_a_change_that_waits_too_long_makes_the_proxy_unhealthy() -> None:
    health = ProxyHealth()
    health.written()
    health.changed()
    assert await codes(health) == (200, 200)
    await asyncio.sleep(STALE_S)
    assert await codes(health) == (503, 503)
    health.written()
    assert await codes(health) == (200, 200)


def test_a_service_reports_its_ready_endpoints_on_this_node() -> None:
    checks = HealthChecks(lambda: True)
    some, none = checks.respond("default/web", 2), checks.respond("default/web", 0)
    assert (some.code, some.headers["x-load-balancing-endpoint-weight"], none.code) == (200, "2", 503)
    assert json.loads(some.body) == {
        "service": {"namespace": "default", "name": "web"},
        "localEndpoints": 2,
        "serviceProxyHealthy": True,
    }


def test_only_load_balancers_with_the_policy_local_have_a_health_check() -> None:
    model = Model(NODE)
    model.put_slice("default/web", "default/web", piece("10.244.1.2", "10.244.1.3"))
    balancer: dict[str, Any] = {"type": "LoadBalancer", "health_check_node_port": 31000}
    model.put_service("default/web", service("web", "10.96.0.10", external_traffic_policy="Local", **balancer))
    assert model.health_check("default/web") == (31000, 2)
    model.put_service("default/web", service("web", "10.96.0.10", **balancer))
    assert model.health_check("default/web") is None

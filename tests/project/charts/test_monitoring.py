"""Dashboard and alerts of an operator: all their metrics are those that the operator serves."""

import asyncio
import json
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from sampan.project.bundle.alerts import alert_groups, job_selector
from sampan.project.bundle.dashboard import dashboard
from sampan.project.bundle.formats.monitoring import monitoring
from sampan.project.bundle.own_metrics import Measured, OwnMetric, measured
from sampan.testing import Cluster, ClusterOptions
from tests.ports import free_ports
from tests.project.charts.expressions import Use, panels, served, uses
from tests.project.charts.projects import edit, make_boats, objects_of
from tests.user_environment import user_environment

WITHIN_S = 120.0
BOAT = {
    "apiVersion": "boats.example.com/v1alpha1",
    "kind": "Boat",
    "metadata": {"name": "gull"},
    "spec": {"length": 4},
}


@asynccontextmanager
async def metrics_of(project: Path, cluster: Cluster) -> AsyncIterator[str]:
    """Run the operator of a project and yield a scrape, once it has served a webhook and reconciled a boat."""
    health, metrics, webhooks = free_ports(3)
    edit(project, "src/boats/webhooks/__init__.py", "WebhookOptions(", f"WebhookOptions(port={webhooks}, ")
    flags = (f"--health-probe-bind-address=127.0.0.1:{health}", f"--metrics-bind-address=127.0.0.1:{metrics}")
    async with cluster.serve() as admin:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "boats", *flags, "--metrics-secure=false", "--leader-elect",
            env=user_environment(**admin.environment(), PYTHONPATH=str(project / "src")),
        )  # fmt: skip
        try:
            async with asyncio.timeout(WITHIN_S):
                await until_served(
                    f"http://127.0.0.1:{metrics}/metrics", 'leader_election_master_status{name="boats"} 1.0'
                )
                await cluster.apply(BOAT)
                reconciled = 'controller_runtime_reconcile_total{controller="boat",result="success"} 0.0'
                yield await until_served(f"http://127.0.0.1:{metrics}/metrics", "workqueue_depth", without=reconciled)
        finally:
            process.kill()
            await process.wait()


async def until_served(address: str, text: str, without: str = "") -> str:
    """Return the metrics as soon as they contain a text, and another one no longer."""
    while True:
        try:
            found = await asyncio.to_thread(_get, address)
            if text in found and not (without and without in found):
                return found
        except OSError:
            pass
        await asyncio.sleep(0.05)


def _get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=WITHIN_S) as response:
        content: bytes = response.read()
    return content.decode()


@pytest.mark.timeout(300)
async def test_every_metric_and_label_of_dashboard_and_alerts_is_served(tmp_path: Path) -> None:
    project = make_boats(tmp_path)
    loaded = objects_of(project)
    parts = measured(loaded.operator)
    assert [each.name for each in parts.own] == ["boats_afloat", "boats_launched", "boats_voyage_seconds"]
    cluster = Cluster(ClusterOptions(virtual=False))
    for crd in loaded.of_kind("CustomResourceDefinition"):
        await cluster.apply({**crd, "spec": {key: value for key, value in crd["spec"].items() if key != "conversion"}})
    async with metrics_of(project, cluster) as text:
        found = served(text)
    await cluster.aclose()
    expected = all_uses(parts)
    assert len(expected) > 40
    assert [each for each in expected if each.metric not in found] == []
    assert [each for each in expected if not each.labels <= found[each.metric]] == []


def all_uses(parts: Measured) -> list[Use]:
    found = [use for expression, legend in panels(dashboard("boats", parts)) for use in uses(expression, [legend])]
    for group in alert_groups("boats", job_selector("boats-metrics", "boats-system"), parts):
        for rule in group["rules"]:
            found += uses(rule["expr"], rule["annotations"].values())
    return found


def test_parts_that_an_operator_lacks_have_no_panels_and_alerts() -> None:
    names = {use.metric for use in all_uses(Measured(webhooks=False, leader_election=False))}
    assert not {each for each in names if "webhook" in each or "leader" in each}
    assert "controller_runtime_reconcile_total" in names


def test_each_metric_of_the_operator_has_a_panel() -> None:
    own = tuple(OwnMetric(f"a_{kind}", kind, "Text") for kind in ("counter", "gauge", "histogram", "summary"))
    names = {use.metric for use in all_uses(Measured(own=own))}
    assert {"a_counter_total", "a_gauge", "a_histogram_bucket", "a_histogram_sum", "a_summary_sum"} <= names


def test_alerts_are_limited_to_one_operator(tmp_path: Path) -> None:
    files = monitoring(objects_of(make_boats(tmp_path)))
    rules = yaml.safe_load(files["monitoring/prometheusrule.yaml"])
    for group in rules["spec"]["groups"]:
        for rule in group["rules"]:
            for use in uses(rule["expr"]):
                assert f'{use.metric}{{job="boats-metrics",namespace="boats-system"' in rule["expr"]
            assert "OPERATOR" not in json.dumps(rule)
    assert 'namespace="' not in files["monitoring/rules.yaml"].replace('namespace="$', "")
    assert json.loads(files["monitoring/dashboard.json"])["title"] == "Operator boats"


def test_panels_do_not_overlap() -> None:
    own = tuple(OwnMetric(f"metric_{index}", "gauge", "") for index in range(7))
    places = [each["gridPos"] for each in dashboard("boats", Measured(webhooks=True, own=own))["panels"]]
    cells = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24

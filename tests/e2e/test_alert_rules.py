"""Alerts and the queries of a dashboard, judged by Prometheus' parser."""

import json
import subprocess
from pathlib import Path

import pytest

from sampan.project.bundle.formats.monitoring import monitoring
from tests.e2e.go_build import build
from tests.project.charts.expressions import panels, plain
from tests.project.charts.projects import make_boats, objects_of

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def test_prometheus_accepts_all_alerts_and_queries(tmp_path: Path) -> None:
    promql = build(Path(__file__).parent / "promql", tmp_path / "promql", "build", ".")
    files = monitoring(objects_of(make_boats(tmp_path)))
    rules, queries = tmp_path / "rules.yaml", tmp_path / "queries.json"
    rules.write_text(files["monitoring/rules.yaml"])
    expressions = [plain(each) for each, _ in panels(json.loads(files["monitoring/dashboard.json"]))]
    queries.write_text(json.dumps(expressions))
    assert len(expressions) > 30

    def check() -> "subprocess.CompletedProcess[str]":
        command = [str(promql), str(rules), str(queries)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    done = check()
    assert (done.returncode, done.stderr) == (0, "")
    rules.write_text(files["monitoring/rules.yaml"].replace("sum by (", "sum by ((", 1))
    assert "unexpected" in check().stderr

"""A dashboard for Grafana, and alerts for Prometheus, with and without its operator."""

from typing import Final

from sampan.project.bundle.alerts import alert_groups, job_selector, prometheus_rule, rules_file
from sampan.project.bundle.dashboard import dashboard_text
from sampan.project.bundle.formats.text import yaml_text
from sampan.project.bundle.objects import OperatorObjects
from sampan.project.bundle.own_metrics import measured

_FOLDER: Final = "monitoring"


def monitoring(found: OperatorObjects) -> dict[str, str]:
    """Return the files."""
    name, namespace, parts = found.settings.name, found.settings.namespace, measured(found.operator)
    (deployment,) = found.of_kind("Deployment")
    metadata = {"name": name, "namespace": namespace, "labels": deployment["metadata"]["labels"]}
    groups = alert_groups(name, job_selector(f"{name}-metrics", namespace), parts)
    return {
        f"{_FOLDER}/dashboard.json": dashboard_text(name, parts),
        f"{_FOLDER}/prometheusrule.yaml": yaml_text([prometheus_rule(metadata, groups)]),
        f"{_FOLDER}/rules.yaml": rules_file(name, parts),
    }

"""Templates of a chart for Prometheus and Grafana: off by default, because their kinds belong to other projects."""

from typing import Final

from sampan.project.bundle.alerts import alert_groups, job_selector, prometheus_rule
from sampan.project.bundle.dashboard import dashboard_text
from sampan.project.bundle.helm.references import ReferenceRewriter
from sampan.project.bundle.helm.template import BELOW, Lines, literal, to_template
from sampan.project.bundle.helm.workload import annotation_lines, merged_lines
from sampan.project.bundle.own_metrics import Measured
from sampan.resource import Object

_JOB: Final = "JOB-OF-THE-RELEASE"
_PLACE: Final = "NAMESPACE-OF-THE-RELEASE"
_ENABLED: Final = "and $.Values.metrics.enabled $.Values.metrics"


def monitoring_files(names: ReferenceRewriter, labels: Object, parts: Measured) -> dict[str, str]:
    """Return the dashboard, the template of its ConfigMap, and that of the alerts. `labels`: those of all objects."""
    return {
        "dashboards/dashboard.json": dashboard_text(names.base, parts),
        "templates/dashboard.yaml": _config_map(names, labels),
        "templates/rules.yaml": _rules(names, labels, parts),
    }


def _metadata(names: ReferenceRewriter, end: str, labels: Object, value: str) -> Object:
    return {
        "name": names.name(names.base + end),
        "namespace": names.place(names.namespace),
        "labels": merged_lines(names.base, labels, f"metrics.{value}.labels", "commonLabels"),
        "": annotation_lines(names.base, {}),
    }


def _rules(names: ReferenceRewriter, labels: Object, parts: Measured) -> str:
    groups = alert_groups(names.base, job_selector(_JOB, _PLACE), parts)
    text = to_template(prometheus_rule(_metadata(names, "", labels, "rules"), groups))
    job = f"{{{{ {literal(names.name(f'{names.base}-metrics'))} }}}}"
    text = text.replace(_JOB, job).replace(_PLACE, "{{ $.Release.Namespace }}")
    return f"{{{{- if {_ENABLED}.rules.enabled }}}}\n---\n{text}{{{{- end }}}}\n"


def _config_map(names: ReferenceRewriter, labels: Object) -> str:
    job = literal(names.name(f"{names.base}-metrics"))
    replaced = f'replace "\\"{names.base}-metrics\\"" ({job} | quote)'
    content = f'{{{{- $.Files.Get "dashboards/dashboard.json" | {replaced} | nindent {BELOW} }}}}'
    obj = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(names, "-dashboard", labels, "dashboard"),
        "data": {"": Lines(f"{names.base}.json: |\n  {content}")},
    }
    return f"{{{{- if {_ENABLED}.dashboard.enabled }}}}\n---\n{to_template(obj)}{{{{- end }}}}\n"

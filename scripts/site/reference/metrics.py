"""Page of the metrics: name, type, labels and meaning, by the program that serves them."""

from typing import Final

from scripts.site.reference.markdown import code, document, plain
from scripts.site.reference.metric_sources import Family, families

PAGE: Final = "reference/metrics.md"
_ABOUT: Final = {
    "API server": "`/metrics` of the server.",
    "API server: /metrics/slis": "Results of the health checks.",
    "Control loops and operators": "`/metrics` of the control loops, and of every operator of the toolkit.",
    "Webhooks of an operator": "Also at `/metrics` of an operator that has webhooks.",
    "Garbage collector": "Also at `/metrics` of the control loops.",
    "Scheduler": "Also at `/metrics` of the process that runs the scheduler.",
    "Service proxy": "Also at `/metrics` of the process that runs the service proxy.",
    "Node": "`/metrics` of the node's own server.",
    "Node: /metrics/resource": "Usage of containers, Pods and the node.",
    "Node: /metrics/cadvisor": "Usage of containers, with the names and labels of cAdvisor.",
}
"""What each section contains. The key is the title of the source."""


def metrics_page() -> str:
    """Return the page."""
    lines = [
        "# Metrics",
        "",
        "Metrics in Prometheus' text format. Where Kubernetes has a metric, its name is the same.",
    ]
    lines += ["The names of a histogram end in `_bucket`, `_sum` and `_count`.", ""]
    for title, found in families().items():
        lines += [f"## {title}", "", _ABOUT[title], "", *map(_item, found), ""]
    return document(lines)


def _item(family: Family) -> str:
    """Return the entry of a metric in a list: names are too long for a table."""
    labels = ", ".join(map(code, family.labels))
    return f"- {code(family.name)}: {family.kind}{f' by {labels}' if labels else ''}. {plain(family.text)}."

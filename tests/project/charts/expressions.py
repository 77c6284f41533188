"""Expressions of PromQL in dashboards and alerts, with the metrics and labels that they name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

TARGET_LABELS: Final = frozenset({"job", "namespace", "pod"})
"""Labels that Prometheus adds to all metrics of a ServiceMonitor's target."""
_SELECTOR: Final = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{([^}]*)\}")
_MATCHER: Final = re.compile(r'([a-zA-Z_]\w*)(?:=~|!~|!=|=)"(?:[^"\\]|\\.)*"')
_GROUPING: Final = re.compile(r"\bby \(([^)]*)\)")
_LEGEND: Final = re.compile(r"\{\{\s*\$?(?:labels\.)?(\w+)\s*\}\}")
_SAMPLE: Final = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+", re.MULTILINE)


@dataclass(frozen=True)
class Use:
    """A metric in an expression, with all labels that the expression expects of it."""

    metric: str
    labels: frozenset[str]
    where: str


def uses(expression: str, texts: Iterable[str] = ()) -> Iterator[Use]:
    """Yield the metrics of an expression. `texts`: legends and annotations, which show labels of the result."""
    grouped = {each.strip() for found in _GROUPING.findall(expression) for each in found.split(",")}
    shown = {each for text in texts for each in _LEGEND.findall(text)} - {"value"}
    assert not grouped or shown <= grouped, (expression, shown)
    for metric, inside in _SELECTOR.findall(expression):
        matched = set(_MATCHER.findall(inside))
        yield Use(metric, frozenset((matched | grouped | shown) - TARGET_LABELS), expression)


def panels(dashboard: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the expression and the legend of each query."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"], target["legendFormat"]


def plain(expression: str) -> str:
    """Return an expression of a dashboard with values for Grafana's variables."""
    return expression.replace("$__rate_interval", "5m").replace("$job", "boats-metrics").replace("$namespace", ".*")


def served(text: str) -> dict[str, set[str]]:
    """Return the labels of each metric of a scrape; a metric with samples of several label sets has those of all."""
    found: dict[str, set[str]] = {}
    for name, inside in _SAMPLE.findall(text):
        labels = set(re.findall(r'(\w+)="', inside))
        found[name] = found[name] & labels if name in found else labels
    return found

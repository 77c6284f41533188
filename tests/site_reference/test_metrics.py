"""Page of metrics: each family that the code makes is on it, with its labels."""

import ast
import re
from collections.abc import Iterator

from tests.site_reference.generated import generated, names
from tests.style.sources import SOURCES, name_of, parse, text_of

MAKERS = frozenset(
    {"Counter", "Gauge", "Histogram", "Summary", "CounterMetricFamily", "GaugeMetricFamily", "HistogramMetricFamily"}
)
PAGE = "reference/metrics.md"
CONSTANT_MIN = 6


def made_names() -> Iterator[tuple[str, str]]:
    """Yield the file and a pattern of the name for each metric that the sources make."""
    for path in SOURCES:
        text = text_of(path)
        if "Metric" in text or "prometheus_client" in text:
            for node in ast.walk(parse(text)):
                if isinstance(node, ast.Call) and (pattern := pattern_of(node)):
                    yield name_of(path), pattern


def pattern_of(call: ast.Call) -> str:
    """Return the pattern of the name; "" if the call makes no metric, or its name is in a variable."""
    maker, arguments = ast.unparse(call.func), call.args
    if maker.endswith(".of"):
        maker, arguments = maker.removesuffix(".of"), arguments[1:]
    if maker not in MAKERS or not arguments:
        return ""
    name = arguments[0]
    parts: list[ast.expr] = [name.left, name.right] if isinstance(name, ast.BinOp) else [name]
    parts = [value for part in parts for value in (part.values if isinstance(part, ast.JoinedStr) else [part])]
    fixed = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if sum(map(len, fixed)) < CONSTANT_MIN:
        return ""
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)


def test_each_metric_of_the_code_is_on_the_page() -> None:
    found = names(generated()[PAGE])
    made = list(made_names())
    assert len(made) > 80
    assert [each for each in made if not any(re.fullmatch(f"{each[1]}(_total)?", name) for name in found)] == []


def test_a_metric_without_a_value_has_its_labels() -> None:
    rows = generated()[PAGE].splitlines()
    assert any(row.startswith("- `apiserver_audit_error_total`: counter by `plugin`.") for row in rows)
    assert any(
        row.startswith("- `controller_runtime_reconcile_total`: counter by `controller`, `result`.") for row in rows
    )


def test_each_metric_has_a_meaning() -> None:
    rows = [row for row in generated()[PAGE].splitlines() if row.startswith("- `")]
    assert len(rows) > 200
    assert [row for row in rows if row.endswith(". .")] == []

"""Control loops read null as empty: Kubernetes' own objects have null for empty lists, maps and times."""

import ast
from collections.abc import Iterator

import pytest

from tests.style.sources import SOURCES, name_of, parse, text_of

FOLDERS = tuple(
    f"src/sampan/{name}/"
    for name in ("component_base", "controllers", "csi", "dns", "node", "scheduler", "service_proxy")
)
OWN_FILES = {
    "src/sampan/controllers/horizontal_pod_autoscaler/metrics.py",
    "src/sampan/node/csi/records.py",
    "src/sampan/node/process/state.py",
}
"""Modules that decode files of the node, or JSON without a type."""


def defaults_of_fields(text: str) -> Iterator[int]:
    """Yield the lines with `get("field", [])`, which returns None for a null field. `get("field") or []` is right."""
    for node in ast.walk(parse(text)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "get"
            and len(node.args) == 2
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[1], ast.List | ast.Dict | ast.Tuple)
        ):
            yield node.lineno


def strict_decoders(text: str) -> Iterator[int]:
    """Yield the lines that use the decoders of msgspec, which refuse null."""
    for node in ast.walk(parse(text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("msgspec.json.Decoder", "msgspec.convert"):
            yield node.lineno


LOOPS = [path for path in SOURCES if name_of(path).startswith(FOLDERS)]


def test_control_loops_read_absent_and_null_fields_alike() -> None:
    found = [f"{name_of(path)}:{line}" for path in LOOPS for line in defaults_of_fields(text_of(path))]
    assert found == [], 'write get("field") or []'


def test_control_loops_decode_with_views() -> None:
    paths = [path for path in LOOPS if name_of(path) not in OWN_FILES]
    found = [f"{name_of(path)}:{line}" for path in paths for line in strict_decoders(text_of(path))]
    assert found == [], "use view_decoder or view_of of resource/view.py"


@pytest.mark.parametrize("text", ['a.get("b", [])', 'a["b"].get("c", {})', 'a.get("b").get("c", ())'])
def test_a_default_that_null_defeats_is_found(text: str) -> None:
    assert list(defaults_of_fields(text)) == [1]


def test_a_decoder_that_refuses_null_is_found() -> None:
    assert list(strict_decoders("x = msgspec.json.Decoder(X)")) == [1]
    assert list(strict_decoders("x = view_decoder(X)")) == []

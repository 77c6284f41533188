"""Selectors of devices: CEL expressions over one device, compiled when they are written.

Source: dynamic-resource-allocation cel/compile.go, pkg/apis/resource/validation (1.36).
"""

import re
from functools import lru_cache
from typing import Any

from sampan.core.field import FieldError, Path, forbidden, internal, invalid, required, too_long, too_many
from sampan.core.object import Object
from sampan.registry.rules.fields import Errors
from sampan.schema.cel import CelCompileError, CelSyntaxError, CelTypeError, Environment
from sampan.schema.cel.admission.environment import shown_type
from sampan.schema.cel.cost.estimate import estimate
from sampan.schema.cel.library.authorization import AUTHORIZATION
from sampan.schema.cel.library.kubernetes import KUBERNETES
from sampan.schema.cel.library.quantities import QUANTITY
from sampan.schema.cel.types import ANY, CelType, struct

LIST_MAX = 32
"""Maximum number of items in each list of requests, constraints, configurations or selectors."""
_EXPRESSION_LENGTH_MAX = 10 * 1024
_COST_MAX = 1_000_000
_VALUE_SIZE_MAX = 64
_ENTRIES_MAX = 32
_ANY_NAME = re.compile(r"\bany\b")


class _Every(dict[str, CelType]):
    """Fields that all have one type, so that the keys of a map can be selected like fields."""

    def __init__(self, kind: CelType) -> None:
        super().__init__()
        self._kind = kind

    def get(self, key: str, default: Any = None) -> Any:
        return self._kind


def _text(size_max: int) -> CelType:
    return CelType("string", "string", max_elements=size_max)


def _by_domain(value: CelType) -> CelType:
    fields = _Every(value) if value.kind == "dyn" else {}
    inner = CelType("map", "map", (_text(32), value), fields=fields, max_elements=_ENTRIES_MAX)
    return CelType("map", "map", (_text(63), inner), max_elements=_ENTRIES_MAX)


_DEVICE = struct(
    "kubernetes.DRADevice",
    {
        "driver": _text(63),
        "allowMultipleAllocations": CelType("bool", "bool", max_elements=1),
        "attributes": _by_domain(CelType(ANY.kind, ANY.name, max_elements=_VALUE_SIZE_MAX)),
        "capacity": _by_domain(QUANTITY),
    },
)


_VARIABLES = {"device": _DEVICE}
_environment = Environment(_VARIABLES, libraries=(*KUBERNETES, AUTHORIZATION), bindings=True)


@lru_cache(maxsize=256)
def _fault(expression: str, path: str) -> FieldError | None:
    at = Path(path)
    try:
        program = _environment.compile(expression)
    except (CelSyntaxError, CelTypeError) as error:
        return invalid(at, expression, f"compilation failed: {error}")
    except CelCompileError as error:
        return internal(at, f"program instantiation failed: {error}")
    result = program.result_type
    if result.kind not in ("bool", "dyn"):
        shown = _ANY_NAME.sub("google.protobuf.Any", shown_type(result))
        return invalid(at, expression, f"must evaluate to bool or the unknown type, not {shown}")
    if estimate(program.root, _VARIABLES).high > _COST_MAX:
        return forbidden(at, "too complex, exceeds cost limit")
    return None


def check_selectors(selectors: list[Object], path: Path, errors: Errors) -> None:
    """Check CEL expressions that select devices: syntax, type, length and cost."""
    if len(selectors) > LIST_MAX:
        errors.append(too_many(path, len(selectors), LIST_MAX))
        return
    for index, selector in enumerate(selectors):
        at, cel = path.index(index).child("cel"), selector.get("cel")
        if cel is None:
            errors.append(required(at))
            continue
        expression, at = cel.get("expression", ""), at.child("expression")
        if len(expression.encode()) > _EXPRESSION_LENGTH_MAX:
            errors.append(too_long(at, "", _EXPRESSION_LENGTH_MAX))
        elif (fault := _fault(expression, str(at))) is not None:
            errors.append(fault)

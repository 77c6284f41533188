"""Match conditions: CEL expressions that select the requests for a webhook.

Source: apiserver pkg/authorization/cel/{compile,matcher}.go (1.36).
"""

from collections.abc import Sequence
from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.schema.cel import Budget, CelCompileError, CelError, CelSyntaxError, CelTypeError, Environment, Program
from sampan.schema.cel.types import STRING, list_of, map_of, struct
from sampan.server.authorization.webhook.spec import expression_request

_REQUIREMENT = struct("kubernetes.SelectorRequirement", {"key": STRING, "operator": STRING, "values": list_of(STRING)})
_SELECTOR = {"rawSelector": STRING, "requirements": list_of(_REQUIREMENT)}
_RESOURCE = struct(
    "kubernetes.ResourceAttributes",
    {
        **dict.fromkeys(("namespace", "verb", "group", "version", "resource", "subresource", "name"), STRING),
        "fieldSelector": struct("kubernetes.FieldSelectorAttributes", _SELECTOR),
        "labelSelector": struct("kubernetes.LabelSelectorAttributes", _SELECTOR),
    },
)
_REQUEST = struct(
    "kubernetes.SubjectAccessReviewSpec",
    {
        "resourceAttributes": _RESOURCE,
        "nonResourceAttributes": struct("kubernetes.NonResourceAttributes", {"path": STRING, "verb": STRING}),
        "user": STRING,
        "groups": list_of(STRING),
        "extra": map_of(STRING, list_of(STRING)),
        "uid": STRING,
    },
)


class ConditionFault(Exception):
    """At least one condition cannot be evaluated, and all others are true."""


class MatchConditions:
    """Compiled conditions of one webhook."""

    def __init__(self, programs: Sequence[Program] = ()) -> None:
        self._programs = tuple(programs)

    def __bool__(self) -> bool:
        """Return True if there are conditions."""
        return bool(self._programs)

    def matches(self, spec: dict[str, Any]) -> bool:
        """Return True if all conditions are true. Raises `ConditionFault`."""
        faults = []
        request = expression_request(spec) if self._programs else {}
        for program in self._programs:
            try:
                if not program.evaluate({"request": request}, Budget()):
                    return False
            except CelError as error:
                text = f"cel evaluation error: expression '{program.expression}' resulted in error: {error}"
                faults.append(text)
        if faults:
            raise ConditionFault(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
        return True


class ConditionCompiler:
    """Compiles match conditions."""

    def __init__(self) -> None:
        self._environment = Environment({"request": _REQUEST})

    def compile(self, expression: str, path: Path) -> Program | FieldError:
        """Return the program of an expression, or the error in it."""
        try:
            program = self._environment.compile(expression)
        except (CelSyntaxError, CelTypeError) as error:
            return invalid(path, expression, f"compilation failed: {error}")
        except CelCompileError as error:
            return invalid(path, expression, f"program instantiation failed: {error}")
        if program.result_type.kind != "bool":
            return invalid(path, expression, f"must evaluate to bool but got {program.result_type}")
        return program

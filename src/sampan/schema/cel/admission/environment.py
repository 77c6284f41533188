"""`Expressions`: compiler of the expressions of one webhook or policy.

expressions = Expressions(Inputs(params=True))
expressions.add_variable("replicas", "object.spec.replicas")
expressions.compile("variables.replicas <= params.max", (BOOL,)).evaluate({…}, Budget())

Source: apiserver pkg/admission/plugin/cel/{compile,composition}.go (1.36).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sampan.schema.cel.admission.declarations import NAMESPACE, REQUEST
from sampan.schema.cel.admission.patch_types import JSON_PATCH, object_types
from sampan.schema.cel.environment import Environment, Program
from sampan.schema.cel.errors import CelCompileError, CelSyntaxError, CelTypeError
from sampan.schema.cel.library.authorization import AUTHORIZER, RESOURCE_CHECK
from sampan.schema.cel.library.json_patch import JSON_PATCHES
from sampan.schema.cel.library.kubernetes import KUBERNETES
from sampan.schema.cel.syntax.parser import parse
from sampan.schema.cel.types import DYN, CelType, list_of, map_of
from sampan.schema.cel.values import ObjectValue

_SCALARS = frozenset(("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"))
_SHOWN = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}
_LIBRARIES = KUBERNETES
_PATCH_LIBRARIES = (*_LIBRARIES, JSON_PATCHES)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Variables available in addition to `object`, `oldObject`, `request` and `namespaceObject`."""

    params: bool = False
    authorizer: bool = True
    patches: bool = False
    """Allow expressions to construct objects and JSON patches."""
    composed: bool = True
    """Provide `variables`."""
    object_type: CelType = DYN
    """Type of `object` and `oldObject`, if known."""
    params_type: CelType = DYN


class Expressions:
    """Compiles expressions, which may use the variables that `add_variable` has declared."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._fields: dict[str, CelType] = {}
        self._variables = CelType("struct", "kubernetes.variables", fields=self._fields, wrap=_unchanged)

    def add_variable(self, name: str, expression: str) -> Program:
        """Declare `variables.<name>`, which may use earlier variables.

        Raises `CelCompileError`; the variable is then declared with type dyn.
        """
        kind = DYN
        try:
            program = self.compile(expression, ())
            kind = program.result_type
        finally:
            self._fields[name] = _field(kind)
        return program

    def compile(
        self, expression: str, results: Iterable[CelType], *, authorizer: bool = True, patches: bool = False
    ) -> Program:
        """Compile an expression whose result has one of the types `results` (any type if empty).

        Raises `CelCompileError` with the message for clients.
        """
        inputs = replace(
            self._inputs,
            authorizer=self._inputs.authorizer and authorizer,
            patches=self._inputs.patches or patches,
        )
        try:
            program = self._environment(inputs, expression).compile(expression)
        except (CelSyntaxError, CelTypeError) as error:
            raise CelCompileError(f"compilation failed: {error}") from None
        except CelCompileError as error:
            raise CelCompileError(f"program instantiation failed: {error}") from None
        expected = [shown_type(kind) for kind in results]
        given = shown_type(program.result_type)
        if expected and given not in expected:
            one = expected[0] if len(expected) == 1 else f"one of [{' '.join(expected)}]"
            raise CelCompileError(f"must evaluate to {one} but got {given}")
        return program

    def issues(self, expression: str) -> str:
        """Return the errors of an expression, whatever its result type; "" if it is well formed and type-correct."""
        try:
            self._environment(self._inputs, expression).compile(expression)
        except (CelSyntaxError, CelTypeError) as error:
            return str(error)
        except CelCompileError:
            return ""  # Only the program cannot be built.
        return ""

    def _environment(self, inputs: Inputs, expression: str) -> Environment:
        variables = {
            "object": inputs.object_type,
            "oldObject": inputs.object_type,
            "namespaceObject": NAMESPACE,
            "request": REQUEST,
        }
        if inputs.params:
            variables["params"] = inputs.params_type
        if inputs.authorizer:
            variables["authorizer"] = AUTHORIZER
            variables["authorizer.requestResource"] = RESOURCE_CHECK
        if inputs.composed:
            variables["variables"] = self._variables
        if not inputs.patches:
            return Environment(variables, libraries=_LIBRARIES)
        types = {JSON_PATCH.name: JSON_PATCH, **object_types(parse(expression))}
        return Environment(variables, types, _PATCH_LIBRARIES)


def lazy_variables(makers: Mapping[str, Callable[[], Any]]) -> ObjectValue:
    """Return the value of `variables`: each variable is computed on first use and cached."""
    wraps: dict[str, Callable[[Any], Any]] = {name: _called(make) for name, make in makers.items()}
    return ObjectValue(dict.fromkeys(makers, True), wraps)


def _called(make: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda _: make()


def shown_type(kind: CelType) -> str:
    """Return the name of a type in errors about result types."""
    if not kind.params:
        return _SHOWN.get(kind.kind, kind.name)
    return f"{kind.name}({', '.join(map(shown_type, kind.params))})"


def _unchanged(value: Any) -> Any:
    return value


def _field(kind: CelType) -> CelType:
    """Return the type of a variable: lists and maps of simple types keep theirs, all others are dyn."""
    known = _known(kind)
    return CelType(known.kind, known.name, known.params, wrap=_unchanged)


def _known(kind: CelType) -> CelType:
    if kind.kind in _SCALARS:
        return kind
    if kind.kind == "list":
        return list_of(_known(kind.params[0]))
    if kind.kind == "map":
        return map_of(_known(kind.params[0]), _known(kind.params[1]))
    return DYN

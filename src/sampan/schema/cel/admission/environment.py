"""`Expressions`: compiles the expressions of one webhook or policy.

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
from sampan.schema.cel.library.authorization import AUTHORIZATION, AUTHORIZER, RESOURCE_CHECK
from sampan.schema.cel.library.json_patch import JSON_PATCHES
from sampan.schema.cel.library.kubernetes import KUBERNETES
from sampan.schema.cel.parser import parse
from sampan.schema.cel.types import DYN, CelType, list_of, map_of
from sampan.schema.cel.values import ObjectValue

_SCALARS = frozenset(("bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"))
_SHOWN = {"null": "null_type", "timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}
_LIBRARIES = (*KUBERNETES, AUTHORIZATION)
_PATCH_LIBRARIES = (*_LIBRARIES, JSON_PATCHES)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Which variables there are besides `object`, `oldObject`, `request` and `namespaceObject`."""

    params: bool = False
    authorizer: bool = True
    patches: bool = False
    """Whether objects and JSON patches may be constructed."""
    composed: bool = True
    """Whether there are `variables`."""
    object_type: CelType = DYN
    """The type of `object` and `oldObject`, where it is known."""
    params_type: CelType = DYN


class Expressions:
    """Compiles expressions with the variables that were added before."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._fields: dict[str, CelType] = {}
        self._variables = CelType("struct", "kubernetes.variables", fields=self._fields, wrap=_as_it_is)

    def add_variable(self, name: str, expression: str) -> Program:
        """Declare `variables.<name>`, which may use those before it.

        Raises `CelCompileError`; it is declared all the same, as of any type.
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
        """The program of an expression that gives one of the types `results` (none: anything).

        Raises `CelCompileError` with the text that clients see.
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
        wanted = [shown_type(kind) for kind in results]
        given = shown_type(program.result_type)
        if wanted and given not in wanted:
            one = wanted[0] if len(wanted) == 1 else f"one of [{' '.join(wanted)}]"
            raise CelCompileError(f"must evaluate to {one} but got {given}")
        return program

    def issues(self, expression: str) -> str:
        """What is wrong with an expression, whatever its result; "" if it is well formed and its types fit."""
        try:
            self._environment(self._inputs, expression).compile(expression)
        except (CelSyntaxError, CelTypeError) as error:
            return str(error)
        except CelCompileError:
            return ""  # only its program cannot be made
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
    """The value of `variables`: each is found when an expression first reads it, and kept."""
    wraps: dict[str, Callable[[Any], Any]] = {name: _called(make) for name, make in makers.items()}
    return ObjectValue(dict.fromkeys(makers, True), wraps)


def _called(make: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda _: make()


def shown_type(kind: CelType) -> str:
    """A type as texts about results name it."""
    if not kind.params:
        return _SHOWN.get(kind.kind, kind.name)
    return f"{kind.name}({', '.join(map(shown_type, kind.params))})"


def _as_it_is(value: Any) -> Any:
    return value


def _field(kind: CelType) -> CelType:
    """The type of a variable: lists and maps of simple things are known, all else is dyn."""
    known = _known(kind)
    return CelType(known.kind, known.name, known.params, wrap=_as_it_is)


def _known(kind: CelType) -> CelType:
    if kind.kind in _SCALARS:
        return kind
    if kind.kind == "list":
        return list_of(_known(kind.params[0]))
    if kind.kind == "map":
        return map_of(_known(kind.params[0]), _known(kind.params[1]))
    return DYN

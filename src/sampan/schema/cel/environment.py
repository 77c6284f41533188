"""`Environment`: variables, types and functions available to expressions. `Program`: compiled expression.

environment = Environment({"self": INT, "oldSelf": INT})
program = environment.compile("self >= oldSelf")
program.evaluate({"self": 3, "oldSelf": 2}, Budget())    # True
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sampan.core.event_loop.offload import TakeThread, count_steps, steps_left
from sampan.schema.cel.checking import literals
from sampan.schema.cel.checking.checker import check
from sampan.schema.cel.compiling.code import COST, FIRST_VARIABLE, LIMIT, Frame, over_limit
from sampan.schema.cel.compiling.compiler import Compiler
from sampan.schema.cel.cost.budget import OUT_OF_BUDGET, Budget
from sampan.schema.cel.declarations import Library, Overload, by_name
from sampan.schema.cel.errors import (
    EVALUATION_ERRORS,
    CelBudgetExceeded,
    CelRuntimeError,
    CelSyntaxError,
    as_runtime_error,
)
from sampan.schema.cel.library.kubernetes import KUBERNETES
from sampan.schema.cel.syntax.ast import Expr
from sampan.schema.cel.syntax.escaping import unescape_fields
from sampan.schema.cel.syntax.parser import parse
from sampan.schema.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    map_of,
)

_TYPES = {
    "bool": BOOL,
    "int": INT,
    "uint": UINT,
    "double": DOUBLE,
    "string": STRING,
    "bytes": BYTES,
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "null_type": NULL,
    "type": CelType("type", "type"),
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
}


class Program:
    """Compiled expression. Can be evaluated any number of times; keeps no state between evaluations."""

    __slots__ = ("_frame", "_inputs", "_run", "expression", "result_type", "root", "variables")

    def __init__(self, expression: str, root: Expr, result_type: CelType, variables: Mapping[str, CelType]) -> None:
        self.expression = expression
        self.root = root
        """Checked tree, for the cost estimate."""
        self.result_type = result_type
        compiler = Compiler()
        compiled = compiler.compile(root)
        self._run = compiled.run
        self._frame: Frame = [compiled.cost, 0, *[None] * (compiler.size - FIRST_VARIABLE)]
        self._inputs = [(name, slot, variables[name].wrap) for name, slot in compiler.slots.items()]
        self.variables = frozenset(compiler.slots)
        """Names of the environment's variables that the expression reads."""

    def evaluate(self, bindings: Mapping[str, Any], budget: Budget) -> Any:
        """Evaluate the expression with these values of its variables (JSON values, or values of libraries).

        Charges the cost to the budget, even if the evaluation fails.

        **Raises** CelRuntimeError if the evaluation fails, CelBudgetExceeded if it costs too much; after
        CelBudgetExceeded, the budget is exhausted.
        """
        frame = self._frame.copy()
        limit, allowed = budget.call_max, steps_left()
        frame[LIMIT] = limit if allowed is None else min(limit, allowed)
        try:
            for name, slot, wrap in self._inputs:
                value = bindings[name]
                frame[slot] = value if wrap is None else wrap(value)
            value = self._run(frame)
        except CelBudgetExceeded:
            if allowed is not None and frame[COST] > allowed:
                raise TakeThread from None
            self._pay(frame, budget)
            raise
        except EVALUATION_ERRORS as error:
            self._pay(frame, budget)
            if type(error) is KeyError and any(name not in bindings for name in self.variables):
                missing = next(name for name in self.variables if name not in bindings)
                raise CelRuntimeError(f"no such attribute(s): {missing}") from None
            raise as_runtime_error(error) from None
        cost = frame[COST]
        if allowed is not None:
            count_steps(cost)
        remaining = budget.remaining
        if cost > limit or cost > remaining:
            self._pay(frame, budget)
        budget.remaining = remaining - cost
        return value

    def _pay(self, frame: Frame, budget: Budget) -> None:
        """Charge the cost of a failed evaluation, or raise if it exceeds the budget."""
        cost, remaining = frame[COST], budget.remaining
        if cost > remaining or cost > budget.call_max:
            budget.remaining = -1
            raise CelBudgetExceeded(OUT_OF_BUDGET) if cost > remaining else over_limit()
        budget.remaining = remaining - cost


class Environment:
    """Variables and types by name, and libraries of functions, that expressions may use.

    `types` are struct types that expressions may construct; `extended` returns an environment with more of them.
    `escaped_keys`: keys of maps can also be selected by escaped identifiers (`claims.acme__dot__io`, see escaping.py).
    `bindings`: enables `cel.bind`.
    """

    def __init__(
        self,
        variables: Mapping[str, CelType],
        types: Mapping[str, CelType] | None = None,
        libraries: Iterable[Library] = KUBERNETES,
        *,
        escaped_keys: bool = False,
        bindings: bool = False,
    ) -> None:
        self.variables = dict(variables)
        self._libraries = tuple(libraries)
        self._escaped_keys = escaped_keys
        self._bindings = bindings
        self._types = {**_TYPES, **(types or {})}
        for library in self._libraries:
            # Values of other types exist, but an expression cannot name the types.
            self._types.update({kind.name: kind for kind in library.types if kind.kind == "opaque"})
        self._functions = _functions(self._libraries)

    def extended(
        self,
        variables: Mapping[str, CelType] | None = None,
        types: Mapping[str, CelType] | None = None,
        libraries: Iterable[Library] = (),
    ) -> "Environment":
        """Return an environment with these additional variables, types and libraries."""
        return Environment(
            {**self.variables, **(variables or {})},
            {**self._types, **(types or {})},
            (*self._libraries, *libraries),
            escaped_keys=self._escaped_keys,
            bindings=self._bindings,
        )

    def compile(self, expression: str) -> Program:
        """Parse and check an expression, and return the program that evaluates it.

        **Raises** CelSyntaxError or CelTypeError; the message is the part that clients see after `compilation failed:
        `.
        """
        root = parse(expression, bindings=self._bindings)
        try:
            if self._escaped_keys:
                unescape_fields(root)
            result = check(root, expression, variables=self.variables, types=self._types, functions=self._functions)
            literals.check(root, expression)
            return Program(expression, root, result, self.variables)
        except RecursionError:
            raise CelSyntaxError("ERROR: <input>:-1:0: max recursion depth exceeded") from None


@lru_cache(maxsize=64)
def _functions(libraries: tuple[Library, ...]) -> dict[str, list[Overload]]:
    """Return the libraries' functions by name, computed once for each selection of libraries."""
    return by_name(overload for library in libraries for overload in library.overloads)

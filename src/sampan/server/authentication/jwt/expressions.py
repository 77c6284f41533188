"""CEL expressions over the claims of a token, and over the resulting user.

Source: apiserver pkg/authentication/cel/{compile,mapper}.go (1.36).
"""

from collections.abc import Mapping
from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.schema.cel import Budget, CelCompileError, CelError, CelSyntaxError, CelTypeError, Environment, Program
from sampan.schema.cel.syntax.ast import Expr, Ident, Select
from sampan.schema.cel.types import ANY, STRING, list_of, map_of, struct
from sampan.schema.cel.values import FieldMap, TextList
from sampan.server.authentication.authenticator import TokenError
from sampan.server.request import UserInfo

_USER = struct(
    "kubernetes.UserInfo",
    {
        "username": STRING,
        "uid": STRING,
        "groups": list_of(STRING),
        "extra": map_of(STRING, list_of(STRING)),
    },
)
CLAIMS, USER = "claims", "user"
BOOL, UNBOUND = "bool", ""
"""Required types of an expression's value."""
_NOT_TEXTS = "expression must return a string or a list of strings"


class ExpressionCompiler:
    """Turns CEL texts about claims or users into programs."""

    def __init__(self) -> None:
        self._environments = {
            CLAIMS: Environment({CLAIMS: map_of(STRING, ANY)}, escaped_keys=True),
            USER: Environment({USER: _USER}, escaped_keys=True),
        }

    def compile(self, text: str, variable: str, result: str, path: Path) -> Program | FieldError:
        """Return the program of an expression over `variable`, or the error in it."""
        try:
            program = self._environments[variable].compile(text)
        except (CelSyntaxError, CelTypeError) as error:
            return invalid(path, text, f"compilation failed: {error}")
        except CelCompileError as error:
            return invalid(path, text, f"program instantiation failed: {error}")
        if result and program.result_type.kind != result:
            return invalid(path, text, f"must evaluate to {result}")
        return program


def evaluate_claims(program: Program, claims: Mapping[str, Any]) -> Any:
    """Evaluate over claims, with all numbers as doubles. Raises `TokenError`."""
    fields = {name: _with_doubles(value) for name, value in claims.items()}
    return _evaluate(program, {CLAIMS: FieldMap(fields, "kubernetes.claims")})


def evaluate_user(program: Program, user: UserInfo) -> Any:
    """Evaluate over a user. Raises `TokenError`."""
    value: dict[str, Any] = {"username": user.name, "uid": user.uid, "groups": list(user.groups)}
    value["extra"] = {name: list(values) for name, values in user.extra.items()}
    return _evaluate(program, {USER: value})


def texts_of(value: Any) -> tuple[str, ...]:
    """Return a value as strings, without empty ones. It may be a string, a list of strings or null. Raises
    `TokenError`.

    The lists that `split` and `findAll` return are refused, as in kube-apiserver, where they have another Go type. The
    results of `map`, `filter` and similar functions on them are accepted.
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,) if value else ()
    if isinstance(value, list) and type(value) is not TextList and all(isinstance(item, str) for item in value):
        return tuple(item for item in value if item)
    raise TokenError(_NOT_TEXTS)


def uses_claim(program: Program, name: str) -> bool:
    """Return True if an expression selects `claims.<name>`."""
    return _selects(program.root, name)


def _selects(node: Expr, name: str) -> bool:
    if isinstance(node, Select) and node.field == name:
        operand = node.operand
        if isinstance(operand, Ident) and operand.name == CLAIMS:
            return True
    return any(_selects(child, name) for child in node.children())


def _with_doubles(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list):
        return [_with_doubles(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_doubles(item) for name, item in value.items()}
    return value


def _evaluate(program: Program, bindings: Mapping[str, Any]) -> Any:
    try:
        return program.evaluate(bindings, Budget())
    except CelError as error:
        raise TokenError(f"expression '{program.expression}' resulted in error: {error}") from None

"""Unification: assignability of types with type parameters. Source: cel-go checker/types.go (0.26)."""

from typing import TypeAlias

from sampan.schema.cel.types import DYN, CelType, same, unwrap

Mapping: TypeAlias = dict[str, CelType]
"""Types assigned to type parameters."""


class Assignments(dict[str, CelType]):
    """Types assigned to the type parameters of one expression.

    A large expression has thousands of parameters and attempts. A failed attempt is undone; a copy for each attempt
    would cost the square of the expression's length.
    """

    def __init__(self) -> None:
        super().__init__()
        self._before: list[tuple[str, CelType | None]] = []

    def set(self, name: str, kind: CelType) -> None:
        """Assign a type to a parameter, until `undo`."""
        self._before.append((name, self.get(name)))
        self[name] = kind

    def keep(self) -> None:
        """Keep the types that were assigned since the last call."""
        self._before.clear()

    def undo(self) -> None:
        """Restore the types of the last call of `keep`."""
        while self._before:
            name, kind = self._before.pop()
            if kind is None:
                del self[name]
            else:
                self[name] = kind


_NULLABLE = frozenset(("opaque", "struct", "duration", "timestamp", "wrapper"))
_SCALARS = frozenset(("bool", "bytes", "double", "int", "string", "uint", "duration", "timestamp", "struct"))


def is_dyn_or_error(kind: CelType) -> bool:
    """Report whether every type is assignable to this type."""
    return kind.kind in ("dyn", "error")


def _less_specific(left: CelType, right: CelType) -> bool:
    if left.kind in ("dyn", "param"):
        return True
    if left.kind == "wrapper":
        return same(unwrap(left), unwrap(right))
    if right.kind in ("dyn", "param") or left.kind != right.kind:
        return False
    if left.kind == "type":
        return True
    if left.kind in ("opaque", "list", "map"):
        return (
            left.name == right.name
            and len(left.params) == len(right.params)
            and all(map(_less_specific, left.params, right.params))
        )
    return same(left, right)


def most_general(left: CelType, right: CelType) -> CelType:
    """Return the less specific of two types that are assignable to each other."""
    return left if _less_specific(left, right) else right


def _occurs(mapping: Mapping, name: str, within: CelType) -> bool:
    if within.kind == "param":
        if within.name == name:
            return True
        found = mapping.get(within.name)
        return found is not None and _occurs(mapping, name, found)
    return any(_occurs(mapping, name, part) for part in within.params)


def _substitution(mapping: Assignments, kind: CelType, parameter: CelType) -> tuple[bool, bool]:
    """Report whether the type can be assigned to the parameter, and whether the parameter already had a type."""
    if kind.kind == "param" and kind.name == parameter.name:
        return True, True
    known = mapping.get(parameter.name)
    if known is not None:
        if same(kind, known):
            return True, True
        if not _assign(mapping, kind, known):
            return False, True
        general = most_general(kind, known)
        if not _occurs(mapping, parameter.name, general):
            mapping.set(parameter.name, general)
        return True, True
    if _occurs(mapping, parameter.name, kind):
        return False, False
    mapping.set(parameter.name, kind)
    return True, False


def _assign(mapping: Assignments, left: CelType, right: CelType) -> bool:
    if right.kind == "param":
        valid, known = _substitution(mapping, left, right)
        if valid or known:
            return valid
    if left.kind == "param":
        return _substitution(mapping, right, left)[0]
    if is_dyn_or_error(left) or is_dyn_or_error(right):
        return True
    if left.kind == "null" or right.kind == "null":
        other = right if left.kind == "null" else left
        return other.kind == "null" or other.kind in _NULLABLE
    left, right = unwrap(left), unwrap(right)
    if left.kind != right.kind:
        return False
    if left.kind in _SCALARS:
        return left.name == right.name
    if left.kind == "type":
        return True
    return (
        left.name == right.name
        and len(left.params) == len(right.params)
        and all(_assign(mapping, a, b) for a, b in zip(left.params, right.params, strict=True))
    )


def assign(mapping: Assignments, pairs: list[tuple[CelType, CelType]]) -> bool:
    """Make every left type assignable to its right type, or change nothing and return False."""
    if all(_assign(mapping, left, right) for left, right in pairs):
        mapping.keep()
        return True
    mapping.undo()
    return False


def substitute(mapping: Mapping, kind: CelType, *, free_to_dyn: bool = False) -> CelType:
    """Replace the parameters of a type by their assigned types."""
    if kind.kind == "param":
        found = mapping.get(kind.name)
        if found is not None:
            return substitute(mapping, found, free_to_dyn=free_to_dyn)
        return DYN if free_to_dyn else kind
    if not kind.params:
        return kind
    params = tuple(substitute(mapping, part, free_to_dyn=free_to_dyn) for part in kind.params)
    if all(new is old for new, old in zip(params, kind.params, strict=True)):
        return kind
    return CelType(kind.kind, kind.name, params)

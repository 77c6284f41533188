"""Check literals that would always fail: durations, timestamps, patterns, and lists and maps of mixed types.

Source: cel-go cel/validator.go (0.26), as selected in apiserver pkg/cel/environment/base.go (1.36).
"""

import itertools
from collections.abc import Callable, Iterable, Iterator

from sampan.schema.cel import times
from sampan.schema.cel.errors import CelRuntimeError, CelTypeError, Issue, render
from sampan.schema.cel.library.formatting import clauses, misuse
from sampan.schema.cel.library.regex import compile_pattern
from sampan.schema.cel.syntax.ast import Call, Expr, ListNode, Literal, MapNode, walk
from sampan.schema.cel.types import CelType, same, unwrap, unwrap_optional


def _is_duration(text: str | int) -> bool:
    return isinstance(text, int) or times.parse_duration(text) is not None


def _is_timestamp(value: str | int) -> bool:
    try:
        if isinstance(value, int):
            return times.timestamp_of(value * 10**9) is not None
        return times.parse_timestamp(value) is not None
    except CelRuntimeError:
        return False


def _is_pattern(text: str | int) -> bool:
    try:
        compile_pattern(str(text))
    except CelRuntimeError:
        return False
    return True


_CHECKS: dict[str, Callable[[str | int], bool]] = {
    "duration": _is_duration,
    "timestamp": _is_timestamp,
    "matches": _is_pattern,
}


def _call_issue(node: Call) -> Issue | None:
    valid = _CHECKS.get(node.function)
    if valid is None or not node.args or (node.function == "matches" and node.target is None):
        return None
    argument = node.args[0]
    if not isinstance(argument, Literal) or not isinstance(argument.value, str | int) or valid(argument.value):
        return None
    return Issue(argument.offset, f"invalid {node.function} argument")


def _mixed(nodes: Iterable[tuple[Expr, bool]]) -> Iterator[Issue]:
    """Yield an issue for each node whose type differs from that of the first one. `dyn` is a type like any other."""
    expected: CelType | None = None
    for node, optional in nodes:
        kind = unwrap_optional(node.type)[0] if optional else node.type
        if expected is None:
            expected = kind
        elif not same(unwrap(expected), unwrap(kind)):
            yield Issue(node.offset, f"expected type '{expected}' but found '{kind}'")


def _list_issues(node: ListNode) -> Iterator[Issue]:
    """Yield the first issue of a list."""
    elements = ((element, index in node.optionals) for index, element in enumerate(node.elements))
    return itertools.islice(_mixed(elements), 1)


def _map_issues(node: MapNode) -> Iterator[Issue]:
    """Yield all issues of a map: of its keys and of its values."""
    yield from _mixed((key, False) for key, _, _ in node.entries)
    yield from _mixed((value, optional) for _, value, optional in node.entries)


def _format_issue(node: Call) -> Issue | None:
    """Check a constant format string against the list of its arguments."""
    if node.function != "format" or not isinstance(node.target, Literal) or not isinstance(node.args[0], ListNode):
        return None
    args = node.args[0].elements
    try:
        parts = clauses(node.target.value, len(args))
    except CelRuntimeError as error:
        return Issue(node.offset, str(error))
    verbs = [part[0] for part in parts if not isinstance(part, str)]
    for verb, arg in zip(verbs, args, strict=False):
        text = misuse(verb, arg.type.kind, _NAMES.get(arg.type.kind, arg.type.name))
        if text:
            return Issue(arg.offset, text)
    if len(args) > len(verbs):
        text = f"too many arguments supplied to string.format (expected {len(verbs)}, got {len(args)})"
        return Issue(node.offset, text)
    return None


_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}


def _exempt(root: Expr) -> set[int]:
    """Return the nodes within calls of `format`, whose lists may have mixed types."""
    found: set[int] = set()
    for node in walk(root):
        if isinstance(node, Call) and node.function == "format":
            found.update(id(below) for below in walk(node))
    return found


def check(root: Expr, source: str) -> None:
    """Check the literals of a checked expression. **Raises** CelTypeError with every error."""
    issues: list[Issue] = []
    exempt = _exempt(root)
    for node in walk(root):
        if isinstance(node, Call):
            issue = _call_issue(node) or _format_issue(node)
            if issue is not None:
                issues.append(issue)
        elif isinstance(node, ListNode) and id(node) not in exempt:
            issues.extend(_list_issues(node))
        elif isinstance(node, MapNode) and id(node) not in exempt:
            issues.extend(_map_issues(node))
    if issues:
        raise CelTypeError(render(source, issues))

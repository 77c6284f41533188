"""Check literals that would always fail: durations, timestamps, patterns, and lists and maps of mixed types.

Source: cel-go cel/validator.go (0.26), as selected in apiserver pkg/cel/environment/base.go (1.36).
"""

from collections.abc import Callable

from sampan.schema.cel import times
from sampan.schema.cel.ast import Call, ListNode, Literal, MapNode, Node, walk
from sampan.schema.cel.errors import CelRuntimeError, CelTypeError, Issue, render
from sampan.schema.cel.library.formatting import clauses, misuse
from sampan.schema.cel.library.regex import compile_pattern
from sampan.schema.cel.types import CelType, same, unwrap_optional


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


def _mixed(nodes: list[tuple[Node, bool]]) -> Issue | None:
    expected: CelType | None = None
    for node, optional in nodes:
        kind = unwrap_optional(node.type)[0] if optional else node.type
        if expected is None:
            expected = kind
        elif not same(expected, kind) and "dyn" not in (expected.kind, kind.kind):
            return Issue(node.offset, f"expected type '{expected}' but found '{kind}'")
    return None


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


def _exempt(root: Node) -> set[int]:
    """Return the nodes within calls of `format`, whose lists may have mixed types."""
    found: set[int] = set()
    for node in walk(root):
        if isinstance(node, Call) and node.function == "format":
            found.update(id(below) for below in walk(node))
    return found


def check(root: Node, source: str) -> None:
    """Check the literals of a checked expression. **Raises** CelTypeError with every error."""
    issues: list[Issue] = []
    exempt = _exempt(root)
    for node in walk(root):
        issue: Issue | None = None
        if isinstance(node, Call):
            issue = _call_issue(node) or _format_issue(node)
        elif isinstance(node, ListNode) and id(node) not in exempt:
            issue = _mixed([(element, index in node.optionals) for index, element in enumerate(node.elements)])
        elif isinstance(node, MapNode) and id(node) not in exempt:
            issue = _mixed([(value, optional) for _, value, optional in node.entries])
        if issue is not None:
            issues.append(issue)
    if issues:
        raise CelTypeError(render(source, issues))

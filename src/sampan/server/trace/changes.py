"""Changes of a step, as a JSON patch. Items of lists are compared by index."""

from collections.abc import Iterator
from typing import Any

from sampan.core.json.values import same

Operation = dict[str, Any]


def changes(before: Any, after: Any, path: str = "") -> list[Operation]:
    """Return the operations (RFC 6902 add, remove, replace) that turn `before` into `after`, in order."""
    return list(_changes(before, after, path))


def _changes(before: Any, after: Any, path: str) -> Iterator[Operation]:
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            inner = f"{path}/{_escaped(name)}"
            if name not in after:
                yield {"op": "remove", "path": inner}
            elif name not in before:
                yield {"op": "add", "path": inner, "value": after[name]}
            else:
                yield from _changes(before[name], after[name], inner)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from _changes(old, new, f"{path}/{index}")
        for index in range(len(before), len(after)):
            yield {"op": "add", "path": f"{path}/{index}", "value": after[index]}
        # From the end, so that a removal does not shift the indexes of the next ones.
        for index in range(len(before) - 1, len(after) - 1, -1):
            yield {"op": "remove", "path": f"{path}/{index}"}
    else:
        yield {"op": "replace", "path": path, "value": after}


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")

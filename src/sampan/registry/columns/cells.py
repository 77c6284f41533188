"""Building blocks of the built-in tables: columns and shared cells.

A cell is called once for each row of a list. For speed it is a closure over precomputed keys, not an interpreter of
paths.
Source: pkg/printers/internalversion/printers.go (1.36).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sampan.core.object import Object
from sampan.registry.definition import Column

Cell = Callable[[Any], Any]

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"
EMPTY: Mapping[str, Any] = {}

_DESCRIPTIONS = {
    "Name": "The object's name, unique within its namespace and resource.",
    "Age": "Time since the object was created.",
    "Created At": "Time of the creation of the object.",
    "Ready": "Number of ready ones, and number of all.",
    "Status": "The state of the object in one word.",
    "Restarts": "Number of restarts of the containers, and the time since the last one.",
    "Desired": "The desired number.",
    "Current": "The number that exists.",
    "Containers": "Names of the containers in the template.",
    "Images": "Images of the containers in the template.",
    "Selector": "The labels that choose the pods.",
    "Node": "The node it belongs to.",
    "Duration": "Time between start and completion, or since the start.",
}


def column(name: str, cell: Cell, *, type: str = "string", wide: bool = False, format: str = "") -> Column:
    """Return a column of a built-in table. Clients show `wide` ones only with `-o wide`."""
    return Column(
        name=name,
        type=type,
        cell=cell,
        format=format,
        description=_DESCRIPTIONS.get(name, ""),
        priority=1 if wide else 0,
    )


def integer(name: str, cell: Cell, *, wide: bool = False) -> Column:
    """Return a column of integers."""
    return column(name, cell, type="integer", wide=wide)


def boolean(name: str, cell: Cell) -> Column:
    """Return a column of booleans."""
    return column(name, cell, type="boolean")


def name_of(obj: Mapping[str, Any]) -> str:
    """Return the object's name."""
    return obj["metadata"].get("name", "")  # type: ignore[no-any-return]


NAME = column("Name", name_of, format="name")


def at(*path: str, default: Any = "") -> Cell:
    """Return a cell for the value at a path of one to three fields, or the default."""
    if len(path) == 1:
        (first,) = path
        return lambda obj: obj.get(first, default)
    if len(path) == 2:
        first, second = path
        return lambda obj: obj.get(first, EMPTY).get(second, default)
    first, second, third = path
    return lambda obj: obj.get(first, EMPTY).get(second, EMPTY).get(third, default)


def count(*path: str) -> Cell:
    """Return a cell for the number of items in the list or map at a path."""
    value = at(*path, default=())
    return lambda obj: len(value(obj) or ())


def labels_text(labels: Mapping[str, str] | None) -> str:
    """Return `a=b,c=d`, or `<none>`.

    Source: labels.FormatLabels (1.36).
    """
    if not labels:
        return NONE
    return ",".join(sorted(f"{key}={value}" for key, value in labels.items()))


def _requirement_text(requirement: Mapping[str, Any]) -> str | None:
    key, values = requirement["key"], ",".join(sorted(requirement.get("values", ())))
    match requirement["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case "DoesNotExist":
            return f"!{key}"
    return None


def selector_text(selector: Mapping[str, Any] | None) -> str | None:
    """Return a label selector on one line. Return "" for a selector without requirements, and None for an
    invalid one.
    """
    if not selector:
        return ""
    parts = [(key, f"{key}={value}") for key, value in selector.get("matchLabels", EMPTY).items()]
    for requirement in selector.get("matchExpressions", ()):
        text = _requirement_text(requirement)
        if text is None:
            return None
        parts.append((requirement["key"], text))
    parts.sort(key=lambda part: part[0])
    return ",".join(text for _, text in parts)


def selector_or_none(selector: Mapping[str, Any] | None) -> str:
    """Return `selector_text`, with `<none>` for an empty one.

    Source: metav1.FormatLabelSelector (1.36).
    """
    text = selector_text(selector)
    return "<error>" if text is None else text or NONE


def container_columns(*template_path: str) -> tuple[Column, Column]:
    """Return wide columns for the names and images of the containers in the pod template at this path."""
    template = _path(template_path)

    def joined(field: str) -> Cell:
        return lambda obj: ",".join(
            container.get(field, "") for container in template(obj).get("spec", EMPTY).get("containers", ())
        )

    return column("Containers", joined("name"), wide=True), column("Images", joined("image"), wide=True)


def selector_column(*path: str) -> Column:
    """Return a wide column for the label selector at this path."""
    selector = _path(path)
    return column("Selector", lambda obj: selector_or_none(selector(obj)), wide=True)


def _path(path: tuple[str, ...]) -> Callable[[Object], Any]:
    def value(obj: Object) -> Any:
        node: Any = obj
        for field in path:
            node = node.get(field, EMPTY)
        return node

    return value


def condition_is_true(conditions: Iterable[Mapping[str, Any]], kind: str) -> bool:
    """Return True if the first condition of this type has status True."""
    for condition in conditions:
        if condition["type"] == kind:
            return bool(condition["status"] == "True")
    return False


def some_of(items: Iterable[str], count_max: int) -> str:
    """Return `a,b,c + 2 more...`, or `<unset>` if there are no items."""
    texts = list(items)
    shown = ",".join(texts[:count_max])
    if len(texts) > count_max:
        return f"{shown} + {len(texts) - count_max} more..."
    return shown or UNSET


def load_balancer_text(obj: Mapping[str, Any]) -> str:
    """Return the addresses of the load balancer in `status`, sorted and joined by commas."""
    ingress = obj.get("status", EMPTY).get("loadBalancer", EMPTY).get("ingress", ())
    return ",".join(sorted({each.get("ip") or each.get("hostname") or "" for each in ingress} - {""}))

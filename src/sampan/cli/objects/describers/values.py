"""Values that the descriptions of many kinds share: labels, annotations, times, selectors, the controller."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sampan.cli.objects.describers.describer import DescribedObject, DescriptionRow, RelatedObjects, Section, at, table
from sampan.client import ListOptions
from sampan.core.clock import utc_now
from sampan.core.label_selectors import selector_text
from sampan.core.numbers.quantity import canonical
from sampan.core.time import age, human_duration, parse_time
from sampan.resource import Object

_HIDDEN_ANNOTATIONS: Final = ("kubectl.kubernetes.io/last-applied-configuration",)
_ANNOTATION_MAX: Final = 140
_ACCESS_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def labels(mapping: Mapping[str, str] | None) -> list[str]:
    """Return `key=value` for each label, sorted; `<none>` without any."""
    return [f"{key}={value}" for key, value in sorted((mapping or {}).items())] or ["<none>"]


def annotations(mapping: Mapping[str, str] | None) -> list[str]:
    """Return the lines of annotations, without the manifest that `kubectl apply` keeps; long values are cut."""
    lines = []
    for key, value in sorted((mapping or {}).items()):
        if key in _HIDDEN_ANNOTATIONS:
            continue
        value = value.removesuffix("\n")
        if len(key) + len(value) + 2 <= _ANNOTATION_MAX and "\n" not in value:
            lines.append(f"{key}: {value}")
        else:
            lines.append(f"{key}:")
            lines += [f"  {_shortened(line, _ANNOTATION_MAX - 2)}" for line in value.split("\n")]
    return lines or ["<none>"]


def _shortened(text: str, length_max: int) -> str:
    return text if len(text) <= length_max else text[:length_max] + "..."


def comma_labels(mapping: Mapping[str, str] | None) -> str:
    """Return a map of labels on one line."""
    return ",".join(labels(mapping))


def selector(label_selector: Mapping[str, Any] | None) -> str:
    """Return the text of a `LabelSelector` or a map of labels; `<none>` if it is empty."""
    return selector_text(label_selector) or "<none>"


def time(timestamp: str) -> str:
    """Return a timestamp as kubectl writes it, in the local time zone: `Mon, 02 Jan 2006 15:04:05 -0700`."""
    local = parse_time(without_fraction(timestamp) or "").astimezone()
    return local.strftime("%a, %d %b %Y %H:%M:%S %z")


def without_fraction(timestamp: str | None) -> str | None:
    """Return a timestamp without its fraction of a second; None if there is no timestamp."""
    if not timestamp:
        return None
    return timestamp.partition(".")[0].removesuffix("Z") + "Z"


def since(timestamp: str | None, now: dt.datetime) -> str:
    """Return the age of a timestamp; `<unknown>` without one."""
    return age(without_fraction(timestamp), now)


def between(start: str, end: str) -> str:
    """Return the time between two timestamps in two units."""
    return human_duration((parse_time(end) - parse_time(start)).total_seconds())


def controller(obj: Object) -> str | None:
    """Return `Kind/name` of the controller that owns an object."""
    for owner in at(obj, "metadata.ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind']}/{owner['name']}"
    return None


def status_or_terminating(obj: Object) -> str:
    """Return the phase, or how long ago the deletion was requested."""
    deleted_at = at(obj, "metadata.deletionTimestamp")
    if deleted_at:
        return f"Terminating (lasts {since(deleted_at, utc_now())})"
    return at(obj, "status.phase") or ""


def access_modes(modes: Sequence[str] | None) -> str:
    """Return access modes in their short forms: `RWO,ROX`."""
    return ",".join(short for mode, short in _ACCESS_MODES.items() if mode in (modes or ()))


def resource_lines(amounts: Mapping[str, Any], indent: str) -> Iterator[str]:
    """Yield the amounts of resources, sorted by name."""
    for name, amount in sorted(amounts.items()):
        yield f"{indent}{name}:\t{canonical(amount)}"


def conditions(*columns: str) -> Section:
    """Return the section with the table of conditions; a column shows the field of the same name."""
    fields = [name[:1].lower() + name[1:] for name in columns]

    def section(subject: DescribedObject) -> Iterator[str]:
        cells = [
            [time(each[name]) if name.endswith("Time") and each.get(name) else each.get(name) for name in fields]
            for each in at(subject.obj, "status.conditions") or ()
        ]
        yield from table("Conditions", columns, cells)

    return section


def pods_of(path: str) -> Any:
    """Return the query for the Pods in the object's namespace that the selector at a path selects."""

    def query(obj: Object) -> RelatedObjects:
        chosen = selector_text(at(obj, path))
        return RelatedObjects("pods.v1.", obj["metadata"]["namespace"], ListOptions(label_selector=chosen))

    return query


def owned(subject: DescribedObject, name: str) -> list[Object] | None:
    """Return the related objects that the subject controls; None if they could not be read."""
    found = subject.related.get(name)
    uid = subject.obj["metadata"].get("uid")
    if found is None:
        return None
    return [
        each
        for each in found
        if any(
            owner.get("controller") and owner.get("uid") == uid for owner in at(each, "metadata.ownerReferences") or ()
        )
    ]


NAME: Final = DescriptionRow("Name", "metadata.name")
NAMESPACE: Final = DescriptionRow("Namespace", "metadata.namespace")
CREATED: Final = DescriptionRow("CreationTimestamp", "metadata.creationTimestamp", time)
LABELS: Final = DescriptionRow("Labels", lambda obj: labels(at(obj, "metadata.labels")))
ANNOTATIONS: Final = DescriptionRow("Annotations", lambda obj: annotations(at(obj, "metadata.annotations")))
CONTROLLER: Final = DescriptionRow("Controlled By", controller)
FINALIZERS: Final = DescriptionRow("Finalizers", lambda obj: f"[{' '.join(at(obj, 'metadata.finalizers') or ())}]")
SELECTOR: Final = DescriptionRow("Selector", lambda obj: selector(at(obj, "spec.selector")))

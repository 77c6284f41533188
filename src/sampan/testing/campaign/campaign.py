"""`Campaign`: an operator, and the object whose fields change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sampan.core.object import Object
from sampan.testing.control_loops.sets import DEFAULT
from sampan.testing.generated.choices import Complete
from sampan.testing.generated.repair import generated_object, smallest_object
from sampan.testing.generated.subject import Subject, subject_of
from sampan.testing.generated.values.semantics import USUAL, Meanings
from sampan.testing.object_verbs import as_dict, objects_of
from sampan.testing.operators.failures import Allowed


@dataclass(frozen=True, slots=True)
class Campaign:
    """Single-field changes of an object, under an operator."""

    operator: Any
    """Operator as for `Cluster.run`. It is started many times, so a `Manager` cannot be used."""
    base: Any
    """The object: a dict, YAML, or an object of a declared class.

    A class, a CRD or the name of a kind gives an object with all fields.
    """
    crds: Sequence[str | Path | type[Any] | dict[str, Any]] = ()
    """CustomResourceDefinitions that exist before the operator starts."""
    loops: str = DEFAULT
    """Built-in loops; see `ClusterOptions`."""
    before: Sequence[Any] = ()
    """Manifests that exist before the object. Secrets and ConfigMaps that a generated field names are added."""
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """More values by path (`spec.image`), such as one on which the operator fails."""
    unchanged: Sequence[str] = ()
    """Paths of fields that do not change: this one, and all below it."""
    ignored: Sequence[str] = ()
    """Beginnings of the lines of allowed differences: `configmaps/default/history`."""
    meanings: Meanings = USUAL
    """Values of fields by their names."""
    name: str = "campaign"
    allow_errors: Allowed = False
    """Errors of the operator with the first object that are no errors of the campaign; see `ClusterOptions`."""

    def subject(self) -> Subject:
        """Return the kind of the object. Raises `UnknownKind`."""
        what = self.base
        if isinstance(what, type):
            return subject_of(what)
        obj = what if isinstance(what, Mapping) or _is_kind(what) else self._object()
        if isinstance(obj, Mapping) and obj.get("kind") == "CustomResourceDefinition":
            return subject_of(obj)
        own = [subject_of(each) for each in self.crds if isinstance(each, type | dict)]
        own += [
            subject_of(each) for source in self.crds if isinstance(source, str | Path) for each in objects_of(source)
        ]
        key = "" if isinstance(obj, str) else str(obj.get("kind"))
        group = "" if isinstance(obj, str) else str(obj.get("apiVersion")).rpartition("/")[0]
        matching = [each for each in own if each.kind == key and each.definition.group == group]
        return matching[0] if matching else subject_of(obj, [each.definition for each in own])

    def first(self) -> Object:
        """Return the object before any change. Raises `NotGenerated`, `UnknownKind`."""
        if not isinstance(self.base, type) and not _is_kind(self.base):
            return self._object()
        subject = self.subject()
        smallest = smallest_object(subject, meanings=self.meanings)
        return generated_object(subject, Complete(), smallest, meanings=self.meanings)

    def _object(self) -> Object:
        what = self.base if isinstance(self.base, str | Path | Mapping) else as_dict(self.base)
        (obj,) = objects_of(what)
        return obj


def _is_kind(what: Any) -> bool:
    """Return True for a CRD or the name of a kind, and False for an object."""
    if isinstance(what, Mapping):
        return what.get("kind") == "CustomResourceDefinition"
    return isinstance(what, str) and "\n" not in what and "/" not in what and "{" not in what

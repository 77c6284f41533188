"""Storage classes and volume attributes classes. Source: pkg/registry/storage, pkg/apis/storage (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, duplicate, forbidden, invalid, required, too_long
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.kinds import core_v1, storage_v1
from sampan.registry.columns.cells import EMPTY, NAME, at, column, name_of
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import Errors, check_immutable, check_qualified_name, not_supported
from sampan.registry.rules.node_labels import DEPRECATED
from sampan.registry.strategy import Context, Strategy

_PARAMETERS_MAX = 512
_PARAMETERS_BYTES_MAX = 256 * 1024
_TOPOLOGIES = Path("allowedTopologies")
_IMMUTABLE = ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode")


def _check_provisioner(name: str, path: Path, errors: Errors) -> None:
    if name:
        check_qualified_name(name.lower(), path, errors)
    else:
        errors.append(required(path))


def _check_parameters(parameters: dict[str, str], errors: Errors, *, may_be_empty: bool) -> None:
    path = Path("parameters")
    if len(parameters) > _PARAMETERS_MAX:
        errors.append(too_long(path, "", _PARAMETERS_MAX))
        return
    if "" in parameters:
        errors.append(invalid(path, "", "field can not be empty."))
    if sum(len(key.encode()) + len(value.encode()) for key, value in parameters.items()) > _PARAMETERS_BYTES_MAX:
        errors.append(too_long(path, "", _PARAMETERS_BYTES_MAX))
    if not may_be_empty and not parameters:
        errors.append(required(path, "must contain at least one key/value pair"))


def _check_term(term: core_v1.TopologySelectorTerm, path: Path, errors: Errors) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for index, expression in enumerate(term.get("matchLabelExpressions") or ()):
        at, key, values = path.index(index), expression.get("key", ""), expression.get("values") or ()
        if not values:
            errors.append(required(at.child("values")))
        for position, value in enumerate(values):
            if value in values[:position]:
                errors.append(duplicate(at.child("values").index(position), value))
        check_qualified_name(key, at.child("key"), errors)
        if key in found:
            errors.append(duplicate(at.child("key"), key))
        found[key] = frozenset(values)
    return found


def _check_topologies(topologies: list[core_v1.TopologySelectorTerm], errors: Errors) -> None:
    seen: list[dict[str, frozenset[str]]] = []
    for index, term in enumerate(topologies):
        path = _TOPOLOGIES.index(index).child("matchLabelExpressions")
        found = _check_term(term, path, errors)
        if not found:
            errors.extend(duplicate(path, "") for _ in topologies)
        errors.extend(duplicate(path, "") for other in seen if other == found)
        seen.append(found)


class StorageClassStrategy(Strategy):
    """Defaults and rules of storage classes. Provisioner and parameters are immutable."""

    has_generation = False
    returns_deleted_object = True

    def default(self, obj: storage_v1.StorageClass) -> None:
        """Set defaults: volumes are deleted with their claim and bound immediately."""
        obj.setdefault("reclaimPolicy", "Delete")
        obj.setdefault("volumeBindingMode", "Immediate")

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_provisioner(obj.get("provisioner", ""), Path("provisioner"), errors)
        _check_parameters(obj.get("parameters") or {}, errors, may_be_empty=True)
        policy, mode = obj.get("reclaimPolicy"), obj.get("volumeBindingMode")
        if policy and policy not in ("Delete", "Retain"):
            errors.append(not_supported(Path("reclaimPolicy"), policy, ("Delete", "Retain")))
        if mode is None:
            errors.append(required(Path("volumeBindingMode")))
        elif mode not in ("Immediate", "WaitForFirstConsumer"):
            errors.append(not_supported(Path("volumeBindingMode"), mode, ("Immediate", "WaitForFirstConsumer")))
        _check_topologies(obj.get("allowedTopologies") or [], errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about deprecated node labels."""
        return [
            f"{_TOPOLOGIES.index(i).child('matchLabelExpressions').index(j).child('key')}: {DEPRECATED[key]}"
            for i, term in enumerate(obj.get("allowedTopologies") or ())
            for j, expression in enumerate(term.get("matchLabelExpressions") or ())
            if (key := expression.get("key", "")) in DEPRECATED
        ]

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Only expansion, mount options and topologies may change."""
        self.check(ctx, obj, errors)
        for name in _IMMUTABLE:
            check_immutable(obj.get(name), old.get(name), Path(name), errors)


class VolumeAttributesClassStrategy(Strategy):
    """Rules of volume attributes classes. Driver and parameters are immutable."""

    has_generation = False
    returns_deleted_object = True

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_provisioner(obj.get("driverName", ""), Path("driverName"), errors)
        _check_parameters(obj.get("parameters") or {}, errors, may_be_empty=False)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: no field may change."""
        if obj.get("driverName", "") != old.get("driverName", ""):
            errors.append(forbidden(Path("driverName"), "updates to driverName are forbidden."))
        if not same(obj.get("parameters") or {}, old.get("parameters") or {}):
            errors.append(forbidden(Path("parameters"), "updates to parameters are forbidden."))
        self.check(ctx, obj, errors)


_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _class_name(storage_class: storage_v1.StorageClass) -> str:
    annotations = storage_class["metadata"].get("annotations", EMPTY)
    default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return f"{name_of(storage_class)} (default)" if default else name_of(storage_class)


KINDS: Final = (
    Kind(
        "storage.k8s.io",
        "storageclasses",
        StorageClassStrategy(),
        columns=lambda ages: (
            column("Name", _class_name, format="name"),
            column("Provisioner", at("provisioner")),
            column("ReclaimPolicy", at("reclaimPolicy", default="Delete")),
            column("VolumeBindingMode", at("volumeBindingMode", default="Immediate")),
            column("AllowVolumeExpansion", at("allowVolumeExpansion", default=False)),
            ages.column,
        ),
    ),
    Kind(
        "storage.k8s.io",
        "volumeattributesclasses",
        VolumeAttributesClassStrategy(),
        columns=lambda ages: (NAME, column("DriverName", at("driverName")), ages.column),
    ),
)

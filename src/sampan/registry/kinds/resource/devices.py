"""Devices of a slice: attributes, capacities, taints, counters and nodes.

Source: pkg/apis/resource/validation/validation.go (1.36).
"""

import re
from functools import partial
from typing import Any

from sampan.core.field import Path, forbidden, invalid, not_found, required, too_long, too_many
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.registry.kinds.pod_spec.resources import is_native
from sampan.registry.kinds.pod_spec.scheduling import check_node_selector
from sampan.registry.kinds.resource.capacity import check_capacity
from sampan.registry.kinds.resource.rules import (
    check_attribute_name,
    check_binding_conditions,
    check_list,
    check_taint,
    check_unique,
)
from sampan.registry.rules.fields import Errors, check_label, check_subdomain

ENTRIES_MAX = 32
_VALUES_MAX = 48
_VALUE_LENGTH_MAX = 64
_NAME_LENGTH_MAX = 63 + 1 + 32
_TAINTS_MAX = 16
_CONSUMPTIONS_MAX = 2
_COUNTERS_MAX = 32
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
_SCALARS = ("bool", "int", "string", "version")
_NUMBER = r"(?:0|[1-9]\d*)"
_PRE_RELEASE = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = r"[0-9a-zA-Z-]+"
_version = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRE_RELEASE}(?:\.{_PRE_RELEASE})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?", re.ASCII
).fullmatch


def _shortened(text: str, length_max: int) -> str:
    """Return a key as paths show it: cut in the middle if it is too long."""
    if len(text) <= length_max:
        return text
    remaining = length_max - 3
    return f"{text[: (remaining + 1) // 2]}...{text[len(text) - remaining // 2 :]}"


def _check_text(value: str, path: Path, errors: Errors) -> None:
    if len(value.encode()) > _VALUE_LENGTH_MAX:
        errors.append(too_long(path, "", _VALUE_LENGTH_MAX))


def _check_version(value: str, path: Path, errors: Errors) -> None:
    if not _version(value):
        errors.append(invalid(path, value, "must be a string compatible with semver.org spec 2.0.0"))
    _check_text(value, path, errors)


def _check_attribute(attribute: Object, path: Path, errors: Errors) -> None:
    if "string" in attribute:
        _check_text(attribute["string"], path.child("string"), errors)
    if "version" in attribute:
        _check_version(attribute["version"], path.child("version"), errors)
    found = sum(name in attribute for name in _SCALARS)
    if found != 1:
        errors.append(invalid(path, attribute if found else "", "exactly one value must be specified"))


def _check_sizes(device: Object, path: Path, errors: Errors) -> None:
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    entries = len(attributes) + len(capacity)
    if entries > ENTRIES_MAX:
        text = f"the total number of attributes and capacities must not exceed {ENTRIES_MAX}"
        errors.append(invalid(path, entries, text))
    if len(attributes) > _VALUES_MAX:
        text = f"the total number of attribute values must not exceed {_VALUES_MAX}"
        errors.append(invalid(path, len(attributes), text))


def check_counters(owner: Object, path: Path, errors: Errors, field: str) -> None:
    """Check counters by name, at least one. `field` is the name of the set."""
    name = owner.get(field, "")
    if name:
        check_label(name, path.child(field), errors)
    else:
        errors.append(required(path.child(field)))
    counters, at = owner.get("counters") or {}, path.child("counters")
    if not counters:
        errors.append(required(at))
    elif len(counters) > _COUNTERS_MAX:
        errors.append(too_many(at, len(counters), _COUNTERS_MAX))
    else:
        for name in counters:
            check_label(name, at, errors)


def _check_place(device: Object, path: Path, errors: Errors, per_device: bool) -> None:
    if not per_device:
        if any(name in device for name in ("nodeName", "nodeSelector", "allNodes")):
            errors.append(invalid(path, None, _NO_PLACE))
        return
    found = []
    node = device.get("nodeName")
    if node:
        found.append("`nodeName`")
        check_subdomain(node, path.child("nodeName"), errors)
    elif node is not None:
        errors.append(invalid(path.child("nodeName"), node, "must not be empty"))
    if "nodeSelector" in device:
        found.append("`nodeSelector`")
        check_node_selector(device["nodeSelector"], path.child("nodeSelector"), errors)
    if device.get("allNodes"):
        found.append("`allNodes`")
    elif "allNodes" in device:
        errors.append(invalid(path.child("allNodes"), False, "must be either unset or set to true"))
    if not found:
        errors.append(required(path, _ONE_PLACE))
    elif len(found) > 1:
        errors.append(invalid(path, f"{{{', '.join(found)}}}", _ONE_PLACE))


def _check_mapping(mapping: Object, capacity: Object, path: Path, errors: Errors) -> None:
    multiplier, key, at = mapping.get("allocationMultiplier"), mapping.get("capacityKey"), path.child("capacityKey")
    if multiplier is not None and Quantity.parse(multiplier) <= Quantity(0):
        errors.append(invalid(path.child("allocationMultiplier"), multiplier, "must be positive"))
    if key == "":
        errors.append(invalid(at, "", "capacityKey must not be an empty string"))
    elif key is not None and key not in capacity:
        errors.append(not_found(at, key))


def check_device(device: Object, old: Object | None, path: Path, errors: Errors, *, per_device: bool) -> None:
    """Check a device. With `per_device`, each device sets its nodes."""
    check_label(device.get("name", ""), path.child("name"), errors)
    _check_sizes(device, path, errors)
    attributes: dict[str, Any] = device.get("attributes") or {}
    capacity: dict[str, Any] = device.get("capacity") or {}
    for name, attribute in attributes.items():
        at = path.child("attributes")
        check_attribute_name(name, at, errors)
        _check_attribute(attribute, at.key(_shortened(name, _NAME_LENGTH_MAX)), errors)
    for name, amount in capacity.items():
        at = path.child("capacity")
        check_attribute_name(name, at, errors)
        here = at.key(_shortened(name, _NAME_LENGTH_MAX))
        if device.get("allowMultipleAllocations"):
            check_capacity(amount, here, errors)
        elif "requestPolicy" in amount:
            errors.append(forbidden(here.child("requestPolicy"), "allowMultipleAllocations must be true"))
    if old is None or old.get("taints") != device.get("taints"):
        check_list(device.get("taints") or [], _TAINTS_MAX, path.child("taints"), errors, check_taint)
    consumed, at = device.get("consumesCounters") or [], path.child("consumesCounters")
    if check_list(consumed, _CONSUMPTIONS_MAX, at, errors, partial(check_counters, field="counterSet")):
        check_unique([each.get("counterSet", "") for each in consumed], at, errors)
    _check_place(device, path, errors, per_device)
    check_binding_conditions(device, path, errors)
    for resource, mapping in (device.get("nodeAllocatableResourceMappings") or {}).items():
        at = path.child("nodeAllocatableResourceMappings").key(resource)
        if not is_native(resource):
            errors.append(invalid(at, resource, "must be a node allocatable resource name"))
        _check_mapping(mapping, capacity, at, errors)

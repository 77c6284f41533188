"""Status of resource claims: allocation, reservations, and device data that drivers report.

Source: pkg/apis/resource/validation/validation.go, pkg/registry/resource/utils.go (1.36).
"""

import re
from typing import Any

from sampan.core.field import Path, forbidden, invalid, required, too_long, too_many
from sampan.core.object import Object
from sampan.registry.kinds.pod_spec.scheduling import check_node_selector
from sampan.registry.kinds.pod_spec.volume_sources import check_csi_driver_name
from sampan.registry.kinds.resource.rules import (
    check_binding_conditions,
    check_configuration,
    check_list,
    check_pool_name,
    check_raw_object,
    check_reference,
    check_references,
    check_unique,
)
from sampan.registry.rules.conditions import check_conditions
from sampan.registry.rules.fields import Errors, check_immutable, check_label, not_supported

_STATUS = Path("status")
_RESERVED_MAX = 256
_RESULTS_MAX = 32
_CONFIGURATIONS_MAX = 64
_CONDITIONS_MAX = 8
_ADDRESSES_MAX = 16
_INTERFACE_LENGTH_MAX = 256
_HARDWARE_ADDRESS_LENGTH_MAX = 128
_SOURCES = ("FromClaim", "FromClass")
_uid = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_NOT_UID = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)


def granted_admin_access(status: Object) -> Path | None:
    """Return the path of the first allocation result with admin access, or None."""
    for index, result in enumerate(_results(status)):
        if result.get("adminAccess"):
            return Path("status", "allocation", "devices", "results").index(index).child("adminAccess")
    return None


def _results(status: Object) -> list[Object]:
    found: list[Object] = status.get("allocation", {}).get("devices", {}).get("results") or []
    return found


def _device_id(device: Object) -> str:
    name = "/".join(device.get(part, "") for part in ("driver", "pool", "device"))
    return f"{name}/{device['shareID']}" if device.get("shareID") else name


def _check_consumer(consumer: Object, path: Path, errors: Errors) -> None:
    for name in ("resource", "name", "uid"):
        if not consumer.get(name):
            errors.append(required(path.child(name)))


def _check_device_name(device: Object, path: Path, errors: Errors) -> None:
    check_csi_driver_name(device.get("driver", ""), path.child("driver"), errors)
    check_pool_name(device.get("pool", ""), path.child("pool"), errors)
    check_label(device.get("device", ""), path.child("device"), errors)


def _check_share(device: Object, path: Path, errors: Errors) -> None:
    share = device.get("shareID")
    if share is not None and not _uid(share):
        errors.append(invalid(path.child("shareID"), share, _NOT_UID))


def _check_network(network: Object, path: Path, errors: Errors) -> None:
    for name, length_max in (
        ("interfaceName", _INTERFACE_LENGTH_MAX),
        ("hardwareAddress", _HARDWARE_ADDRESS_LENGTH_MAX),
    ):
        if len(network.get(name, "").encode()) > length_max:
            errors.append(too_long(path.child(name), "", length_max))
    addresses, at = network.get("ips") or [], path.child("ips")
    if len(addresses) > _ADDRESSES_MAX:
        errors.append(too_many(at, len(addresses), _ADDRESSES_MAX))
    else:
        check_unique(addresses, at, errors)


def _check_devices(devices: list[Object], allocated: set[str], errors: Errors) -> None:
    path = _STATUS.child("devices")
    for index, device in enumerate(devices):
        at = path.index(index)
        _check_device_name(device, at, errors)
        _check_share(device, at, errors)
        if _device_id(device) not in allocated:
            errors.append(invalid(at, _device_id(device), "must be an allocated device in the claim"))
        conditions = device.get("conditions") or []
        if len(conditions) > _CONDITIONS_MAX:
            errors.append(too_many(at.child("conditions"), len(conditions), _CONDITIONS_MAX))
        check_conditions(conditions, at.child("conditions"), errors)
        if device.get("data") is not None:
            check_raw_object(device["data"], at.child("data"), errors)
        _check_network(device.get("networkData") or {}, at.child("networkData"), errors)
    check_unique([_device_id(device) for device in devices], path, errors)


def _check_allocation(allocation: Object, known: set[str], errors: Errors) -> None:
    path = _STATUS.child("allocation")
    devices, at = allocation.get("devices", {}), path.child("devices")

    def check_result(result: Object, at: Path, errors: Errors) -> None:
        check_reference(result.get("request", ""), known, at.child("request"), errors)
        _check_device_name(result, at, errors)
        check_binding_conditions(result, at, errors)
        _check_share(result, at, errors)

    def check_entry(entry: Object, at: Path, errors: Errors) -> None:
        source: Any = entry.get("source", "")
        if not source:
            errors.append(required(at.child("source")))
        elif source not in _SOURCES:
            errors.append(not_supported(at.child("source"), source, _SOURCES))
        check_references(entry.get("requests") or [], known, at.child("requests"), errors)
        check_configuration(entry, at, errors)

    check_list(devices.get("results") or [], _RESULTS_MAX, at.child("results"), errors, check_result)
    check_list(devices.get("config") or [], _CONFIGURATIONS_MAX, at.child("config"), errors, check_entry)
    if "nodeSelector" in allocation:
        check_node_selector(allocation["nodeSelector"], path.child("nodeSelector"), errors)


def check_status(status: Object, before: Object, known: set[str], errors: Errors, *, deleted: bool) -> None:
    """Check a new status. `known` contains the names of the claim's requests."""
    reserved, path = status.get("reservedFor") or [], _STATUS.child("reservedFor")
    if check_list(reserved, _RESERVED_MAX, path, errors, _check_consumer):
        check_unique([consumer.get("uid", "") for consumer in reserved], path, errors)
    _check_devices(status.get("devices") or [], {_device_id(result) for result in _results(status)}, errors)
    if reserved and "allocation" not in status:
        errors.append(forbidden(path, "may not be specified when `allocated` is not set"))
    elif deleted:
        old = before.get("reservedFor") or []
        if any(consumer not in old for consumer in reserved):
            detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            errors.append(forbidden(path, detail))
    if "allocation" in before and "allocation" in status:
        check_immutable(status["allocation"], before["allocation"], _STATUS.child("allocation"), errors)
    elif "allocation" in status:
        _check_allocation(status["allocation"], known, errors)

"""ResourceSlices and claims of resource.k8s.io/v1beta1. Source: pkg/apis/resource/v1beta1/conversion.go (1.36)."""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import items, member

_EXACT: Final = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)


def resource_slice(obj: Object) -> None:
    """Move the fields of each device out of `basic`."""
    for device in items(member(obj, "spec"), "devices"):
        device.update(device.pop("basic", None) or {})


def resource_claim(obj: Object) -> None:
    """Move the fields of a request for one device class into `exactly`."""
    _requests(member(obj, "spec"))


def resource_claim_template(obj: Object) -> None:
    """Convert the template of a claim as `resource_claim` does."""
    _requests(member(obj, "spec", "spec"))


def _requests(spec: Object) -> None:
    for request in items(member(spec, "devices"), "requests"):
        exactly = {name: request.pop(name) for name in _EXACT if name in request}
        if any(value not in (None, "", 0) or value is False for value in exactly.values()):
            request["exactly"] = exactly

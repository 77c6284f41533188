"""Parameters of a StorageClass: separates those for the driver from those for the provisioner.

Source: external-provisioner pkg/controller/controller.go `prepareProvision`, `removePrefixedParameters`.
"""

from collections.abc import Mapping
from typing import Final

from sampan.csi.sidecar.secrets import PREFIX, USES, InvalidClass, secret_keys

_FS_TYPE: Final = f"{PREFIX}fstype"
_OWN: Final = frozenset({_FS_TYPE, *(key for use in ("", *USES) for key in secret_keys(use))})


def driver_parameters(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters without those of the provisioner.

    Raises `InvalidClass` for unknown parameters with the provisioner's prefix.
    """
    unknown = [key for key in parameters if key.startswith(PREFIX) and key not in _OWN]
    if unknown:
        raise InvalidClass(
            f'failed to strip CSI Parameters of prefixed keys: found unknown parameter key "{unknown[0]}" '
            f"with reserved namespace {PREFIX}"
        )
    return {key: value for key, value in parameters.items() if key not in _OWN}


def fs_type(parameters: Mapping[str, str], default: str) -> str:
    """Return the file system that a class names, or the default. Raises `InvalidClass` if it names two."""
    found = [value for key, value in parameters.items() if key == _FS_TYPE or key.lower() == "fstype"]
    if len(found) > 1:
        raise InvalidClass(f'fstype specified in parameters with both "fstype" and "{_FS_TYPE}" keys')
    return (found[0] if found else "") or default

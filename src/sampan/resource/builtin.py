"""Object types of the built-in kinds, from their types in `sampan.kinds`."""

import sys
import typing
from typing import Any

from sampan.core.gvk import GroupVersionResource
from sampan.resource.info import ResourceInfo

_PACKAGE = "sampan.kinds."


def builtin_resource(cls: type[Any]) -> ResourceInfo | None:
    """Return the resource of a TypedDict of `sampan.kinds`, such as `apps_v1.Deployment`; None for other classes."""
    if not typing.is_typeddict(cls) or not cls.__module__.startswith(_PACKAGE):
        return None
    module: Any = sys.modules[cls.__module__]
    row = getattr(module, "RESOURCES", {}).get(cls.__name__)
    if row is None:
        return None
    resource, namespaced = row
    group, version = module.GROUP_VERSION
    return ResourceInfo(GroupVersionResource(group, version, resource), cls.__name__, namespaced)

"""CustomResourceDefinitions of a project on a server: what would break, and the change itself."""

from collections.abc import Sequence
from typing import Any, Final

from sampan.client import Client, ListOptions, NotFound, condition_is, wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.generate.declared import by_kind
from sampan.project.errors import ProjectError
from sampan.project.object_changes import ObjectChange
from sampan.resource import Object, ResourceInfo
from sampan.resource.crd import crd_of
from sampan.resource.declare import declaration
from sampan.resource.validation import KindValidator

CRDS: Final = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
MANAGER: Final = "sampan-run"
_PAGE: Final = 500
_NAMED_MAX: Final = 20
_ESTABLISHED_S: Final = 30.0


def definitions(kinds: Sequence[type[Any]]) -> list[Object]:
    """Return the CRDs of declared kinds. Raises `ProjectError` for a class that cannot have one."""
    try:
        return [crd_of(*versions) for versions in by_kind(kinds).values()]
    except TypeError as error:
        raise ProjectError(str(error)) from error


async def broken_objects(client: Client, kinds: Sequence[type[Any]]) -> list[str]:
    """Return the stored objects that do not fit the declared kinds, each with its first error.

    Reads pages of 500 objects, in the versions that the server has already.
    """
    broken: list[str] = []
    for cls in kinds:
        info, validator = declaration(cls).info, KindValidator(cls)
        resource = client.resource(info, namespace="")
        token = ""
        while True:
            try:
                page = await resource.list(ListOptions(limit=_PAGE, continue_token=token))
            except NotFound:
                break  # the server does not have the kind in this version
            head = {"apiVersion": info.api_version, "kind": info.kind}
            judged = [(obj, validator.faults({**head, **obj})) for obj in page.items]
            broken += [f"{_name(info, obj)}: {faults[0]}" for obj, faults in judged if faults]
            token = page.continue_token
            if not token:
                break
    more = len(broken) - _NAMED_MAX
    return [*broken[:_NAMED_MAX], *([f"and {more} more"] if more > 0 else [])]


def _name(info: ResourceInfo, obj: Object) -> str:
    metadata = obj["metadata"]
    return f"{info.gvr.resource}/{metadata['name']}" + (f" in {metadata['namespace']}" if info.namespaced else "")


async def apply_changes(client: Client, changes: Sequence[ObjectChange]) -> None:
    """Apply the changed objects, and wait until their kinds are served. Raises `ApiError`, `WaitTimeout`."""
    for change in changes:
        if change.diff.changed:
            await client.resource(change.info).apply(change.desired, field_manager=MANAGER, force=True)
    for change in changes:
        if change.info is CRDS:
            await wait_for(client.resource(CRDS), change.name, condition_is("Established"), timeout_s=_ESTABLISHED_S)

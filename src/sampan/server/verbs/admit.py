"""Between the verbs and the admission chain."""

from collections.abc import Awaitable, Callable

from sampan.core.object import Object
from sampan.registry.rest.store import Validate
from sampan.server.admission.chain import Attributes
from sampan.server.verbs.scope import Scope


def attributes_of(scope: Scope, operation: str, obj: Object | None, old: Object | None, dry_run: bool) -> Attributes:
    """What the plug-ins are told."""
    request, endpoint = scope.request, scope.endpoint
    info = request.info
    name = info.name
    namespace = scope.ctx.namespace
    if not name and obj is not None:
        name = obj["metadata"].get("name", "")
    if not name and old is not None:
        name = old["metadata"].get("name", "")
    if not namespace and old is not None:
        namespace = old["metadata"].get("namespace", "")
    return Attributes(
        operation=operation,
        gvk=endpoint.gvk,
        gvr=endpoint.gvr,
        namespace=namespace,
        name=name,
        subresource=info.subresource,
        user=request.user,
        dry_run=dry_run,
        obj=obj,
        old=old,
    )


async def admit(scope: Scope, operation: str, obj: Object, old: Object | None, dry_run: bool) -> Object:
    """Mutating admission; defaults are filled in again afterwards."""
    if not scope.admission.mutates(operation):
        return obj
    attributes = attributes_of(scope, operation, obj, old, dry_run)
    await scope.admission.admit(attributes)
    admitted = attributes.obj
    assert admitted is not None
    return admitted


def validator(scope: Scope, operation: str, dry_run: bool) -> Validate | None:
    """Validating admission as the generic path calls it; None when there is none."""
    if not scope.admission.validates(operation):
        return None

    async def validate(obj: Object, old: Object | None) -> None:
        kind = "CREATE" if old is None else operation
        await scope.admission.validate(attributes_of(scope, kind, obj, old, dry_run))

    return validate


def delete_validator(scope: Scope, dry_run: bool) -> Callable[[Object], Awaitable[None]] | None:
    """All admission of a deletion."""
    chain = scope.admission
    if not (chain.mutates("DELETE") or chain.validates("DELETE")):
        return None

    async def validate(old: Object) -> None:
        attributes = attributes_of(scope, "DELETE", None, old, dry_run)
        attributes.name = old["metadata"]["name"]
        await chain.admit(attributes)
        await chain.validate(attributes)

    return validate

"""Calls of the admission chain by the verbs."""

from typing import Any, Final

from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.patch.managed_fields.entries import fault
from sampan.server.admission.chain import Attributes
from sampan.server.request import Request
from sampan.server.verbs.scope import RequestScope

_SPOILED: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests"
)


def attributes_of(
    scope: RequestScope, operation: str, obj: Object | None, old: Object | None, dry_run: bool
) -> Attributes:
    """Return the attributes that admission plug-ins get."""
    request, endpoint = scope.request, scope.endpoint
    info = request.info
    name = info.name
    namespace = scope.ctx.namespace
    if not name and obj is not None:
        name = obj["metadata"].get("name", "")
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
        endpoint=endpoint,
        options=_options(request, operation),
        warnings=request.warnings,
        annotations=request.annotations,
        latencies=request.latencies,
        body_annotations=request.body_annotations,
        deadline=request.deadline,
        gone=request.wire.disconnected,
        observer=scope.observer,
    )


_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions"}


def _options(request: Request, operation: str) -> Object | None:
    """Return the options of a write as they were sent. A patch has those of the resulting create or update.

    Source: apiserver pkg/endpoints/handlers/patch.go patchToUpdateOptions (1.36).
    """
    kind = _OPTIONS.get(operation)
    if kind is None:
        return None
    options: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    query = request.wire.query
    if query:
        if "dryRun" in query:
            options["dryRun"] = list(query["dryRun"])
        for name in ("fieldManager", "fieldValidation"):
            if query.get(name, [""])[0]:
                options[name] = query[name][0]
    return options


async def admit(scope: RequestScope, operation: str, obj: Object, old: Object | None, dry_run: bool) -> Object:
    """Run mutating admission, and set defaults again."""
    if scope.admission.mutates(operation, scope.endpoint.gvr):
        return await admit_known(scope, operation, obj, old, dry_run)
    return obj


async def admit_known(scope: RequestScope, operation: str, obj: Object, old: Object | None, dry_run: bool) -> Object:
    """Do the same as `admit`, right after `AdmissionChain.mutates` has returned True."""
    attributes = attributes_of(scope, operation, obj, old, dry_run)
    before = obj["metadata"].get("managedFields")
    await scope.admission.admit_known(attributes)
    admitted = attributes.obj
    assert admitted is not None
    if admitted["metadata"].get("managedFields") is not before:
        _restore_managed_fields(scope, admitted, before)
    return admitted


def _restore_managed_fields(scope: RequestScope, admitted: Object, before: Any) -> None:
    """Restore managedFields that admission made invalid, with a warning.

    Source: apiserver pkg/endpoints/handlers/fieldmanager/admission.go (1.36).
    """
    metadata = admitted["metadata"]
    wrong = fault(metadata.get("managedFields"))
    if not wrong:
        return
    if before is None:
        del metadata["managedFields"]
    else:
        metadata["managedFields"] = before
    text = f"{_SPOILED}: {wrong}"
    if text not in scope.request.warnings:
        scope.request.warnings.append(text)


async def validate(scope: RequestScope, operation: str, obj: Object, old: Object | None, dry_run: bool) -> None:
    """Run validating admission. Raises `StatusError` if a plug-in refuses."""
    if scope.admission.validates(operation, scope.endpoint.gvr):
        await scope.admission.validate(attributes_of(scope, operation, obj, old, dry_run))


async def admit_part(scope: RequestScope, gvk: GroupVersionKind, obj: Object, old: Object, dry_run: bool) -> Object:
    """Run mutating admission for an update of a subresource with a different kind (Scale)."""
    attributes = attributes_of(scope, "UPDATE", obj, old, dry_run)
    attributes.gvk = gvk
    await scope.admission.admit(attributes)
    admitted = attributes.obj
    assert admitted is not None
    return admitted


async def validate_part(scope: RequestScope, gvk: GroupVersionKind, obj: Object, old: Object, dry_run: bool) -> None:
    """Run validating admission for an update of a subresource with a different kind (Scale)."""
    attributes = attributes_of(scope, "UPDATE", obj, old, dry_run)
    attributes.gvk = gvk
    await scope.admission.validate(attributes)


async def admit_connect(scope: RequestScope, gvk: GroupVersionKind, options: Object) -> None:
    """Run all admission for a connection (exec, attach, portforward, proxy). `options` is an object of kind `gvk`."""
    attributes = attributes_of(scope, "CONNECT", options, None, False)
    attributes.gvk = gvk
    await scope.admission.admit(attributes)
    await scope.admission.validate(attributes)


def binding_attributes(scope: RequestScope, name: str, binding: Object, dry_run: bool) -> Attributes:
    """Return the attributes of a Binding, which is not stored but applied to the Pod `name`."""
    attributes = attributes_of(scope, "CREATE", binding, None, dry_run)
    attributes.gvk, attributes.name = GroupVersionKind("", "v1", "Binding"), name
    return attributes

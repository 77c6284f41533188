"""POST pods/NAME/eviction: delete a pod if its disruption budget permits it.

Conflicts are retried without a delay, because the store has already accepted the other write.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go (1.36).
"""

from dataclasses import replace
from typing import Final

import msgspec

from sampan.core import errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.field import Path, invalid
from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.registry.crd.tracking import track_status
from sampan.registry.kinds.pod_spec.prepare import set_condition
from sampan.registry.kinds.policy.eviction import (
    allows_unready_eviction,
    budgets_of,
    ignores_budgets,
    is_ready,
    may_become_ready,
    still_processed,
    take_disruption,
)
from sampan.registry.rest.metadata import metadata_of
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.deletion import check_object
from sampan.registry.write.own import UpdateOptions, delete, update
from sampan.registry.write.write import Part
from sampan.server.request import Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import dict_response, resource_version_of
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.admit import attributes_of
from sampan.server.verbs.write.body import decoded_kind
from sampan.server.verbs.write.delete_parameters import DeleteParameters, delete_parameters
from sampan.server.verbs.write.write import terms_of

TRIES_MAX: Final = 20
_EVICTION: Final = GroupVersionKind("policy", "v1", "Eviction")
_VERSIONS: Final = ("policy/v1beta1",)
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


async def create_eviction(scope: RequestScope) -> Response:
    """Return 201 if the pod is deleted. Raises 429 if its budget permits none now, 500 if it has several budgets."""
    request = scope.request
    options = write_options(request, "CreateOptions")
    eviction = await _read(scope, options)
    attributes = msgspec.structs.replace(attributes_of(scope, "CREATE", eviction, None, options.dry_run), gvk=_EVICTION)
    await scope.admission.admit(attributes)
    eviction = attributes.obj or {}
    if metadata_of(eviction).get("name", "") != request.info.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    deletion = _deletion(scope, eviction, options)
    await scope.admission.validate(attributes)
    await _evict(scope, deletion)
    response = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    return await offloaded(dict_response, request, response, 201)


async def _read(scope: RequestScope, options: WriteOptions) -> Object:
    """Return the Eviction of the body as policy/v1. Raises 400 and 415."""
    return await decoded_kind(scope, _EVICTION, options, versions=_VERSIONS)


def _deletion(scope: RequestScope, eviction: Object, options: WriteOptions) -> DeleteParameters:
    """Return the delete options. Query or body may request a dry run. Raises 422, 500."""
    given = eviction.get("deleteOptions") or {}
    if given.get("ignoreStoreReadErrorWithClusterBreakingPotential"):
        path = Path("deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential")
        fault = invalid(path, True, "can not be set for pod eviction, try after removing the option")
        raise errors.invalid(_EVICTION.group_kind, scope.request.info.name, [fault])
    parameters = delete_parameters(scope.request, given)
    requested = scope.request.wire.query.get("dryRun", [])
    if requested and parameters.dry_run and requested != parameters.dry_run:
        text = f"[{' '.join(requested)}] and [{' '.join(parameters.dry_run)}]"
        text = f"Non-matching dry-run options in request and content: {text}"
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, text)
    if options.dry_run:
        parameters.dry_run = requested
    return parameters


async def _evict(scope: RequestScope, deletion: DeleteParameters) -> None:
    pod = await _delete_unless_guarded(scope, deletion)
    if pod is None:
        return
    budget = await _budget_of(scope, pod)
    uncounted = budget is not None and not is_ready(pod) and allows_unready_eviction(budget)
    if budget is not None and not uncounted:
        await _take(scope, budget["metadata"]["name"], dry_run=bool(deletion.dry_run))
    if budget is None or not uncounted or deletion.resource_version:
        await _delete(scope, deletion)
        return
    try:
        await _delete(scope, _as_seen(deletion, pod))
    except errors.StatusError as error:
        if error.reason is not errors.Reason.CONFLICT:
            raise
        raise still_processed(budget["metadata"]["name"]) from None


async def _delete_unless_guarded(scope: RequestScope, deletion: DeleteParameters) -> Object | None:
    """Delete the pod if no budget applies, or else return it. Raises 404, 409.

    A pod that can still become ready is deleted with its resourceVersion as a precondition, and read again on a
    conflict.
    """
    store, name = scope.endpoint.store, scope.request.info.name
    tries = 1 if deletion.resource_version else TRIES_MAX
    while True:
        pod = store.decode((await store.record(scope.ctx.namespace, name)).value)
        if not ignores_budgets(pod):
            return pod
        seen = may_become_ready(pod) and not deletion.resource_version
        tries -= 1
        try:
            await _delete(scope, _as_seen(deletion, pod) if seen else deletion)
        except errors.StatusError as error:
            if error.reason is not errors.Reason.CONFLICT or not tries:
                raise
        else:
            return None


def _as_seen(deletion: DeleteParameters, pod: Object) -> DeleteParameters:
    """Return delete options with the state of this pod as a precondition."""
    return replace(deletion, resource_version=pod["metadata"]["resourceVersion"])


async def _budget_of(scope: RequestScope, pod: Object) -> Object | None:
    """Return the one budget that selects the pod. Raises 500 if there are several."""
    budgets = scope.cluster.endpoint("policy", "v1", "poddisruptionbudgets")
    assert budgets is not None
    await budgets.store.cache.fresh()
    found = budgets_of(pod, scope.cluster.reader.list("policy", "poddisruptionbudgets", scope.ctx.namespace))
    if len(found) > 1:
        raise errors.StatusError(errors.Reason.UNKNOWN, 500, _SEVERAL)
    return found[0] if found else None


async def _take(scope: RequestScope, budget_name: str, *, dry_run: bool) -> None:
    """Count a disruption in the budget for the pod of the request. Raises 403, 404, 409, 429."""
    endpoint = scope.cluster.endpoint("policy", "v1", "poddisruptionbudgets")
    assert endpoint is not None
    budgets, pod_name = endpoint, scope.request.info.name

    def take(budget: Object, old: Object) -> None:
        take_disruption(budget, pod_name, timestamp(scope.clock))
        track_status(budgets, old, budget, scope.clock)

    ctx = msgspec.structs.replace(scope.ctx, name=budget_name, subresource="status", dry_run=dry_run)
    await update(budgets.store, ctx, take, scope.clock, UpdateOptions(part=Part.STATUS, dry_run=dry_run))


async def _delete(scope: RequestScope, deletion: DeleteParameters) -> None:
    """Record the eviction in the pod, then delete it. Raises 404, 409."""
    store = scope.endpoint.store

    def mark(pod: Object, old: Object) -> None:
        check_object(store, pod, deletion.uid, deletion.resource_version)
        set_condition(
            pod.setdefault("status", {}),
            "DisruptionTarget",
            "True",
            timestamp(scope.clock),
            reason="EvictionByEvictionAPI",
            message="Eviction API: evicting",
        )

    desired = deletion
    if not deletion.dry_run:
        ctx = msgspec.structs.replace(scope.ctx, subresource="status")
        updated = await update(store, ctx, mark, scope.clock, UpdateOptions(part=Part.STATUS))
        if deletion.resource_version:
            desired = replace(deletion, resource_version=resource_version_of(updated))
    await delete(store, scope.ctx, scope.clock, terms_of(desired), uid=desired.uid, dry_run=bool(desired.dry_run))

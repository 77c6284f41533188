"""DELETE of one object and of a collection. Source: apiserver pkg/endpoints/handlers/delete.go (1.36)."""

from typing import Any

from sampan.core import errors
from sampan.registry.dialect import BUILTIN
from sampan.registry.strategy import Context
from sampan.registry.write.changes.body import UndecodableBody, decode_value
from sampan.registry.write.changes.recognition import type_fault
from sampan.registry.write.runner import run
from sampan.registry.write.write import Write
from sampan.server.request import Response
from sampan.server.verbs.list import acceptable_for_list, page_response, query_of, read_page
from sampan.server.verbs.options import list_options
from sampan.server.verbs.representations.respond import dict_response, object_response, success_status
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.body import BODY_SIZE_BYTES_MAX
from sampan.server.verbs.write.delete_parameters import DeleteParameters, delete_parameters
from sampan.server.verbs.write.write import deletion_of


async def delete(scope: RequestScope) -> Response:
    """Return 200 with a Status, or with the object if it is not removed yet or its type requires that."""
    request, endpoint = scope.request, scope.endpoint
    parameters = await _parameters(scope)
    fault = endpoint.store.strategy.deletion_fault(request.info.name)
    if fault:
        raise errors.forbidden(endpoint.definition.group_resource, request.info.name, fault)
    deleted = await run(deletion_of(scope, scope.ctx, parameters))
    request.step("Object deleted from database")
    if not deleted.removed:
        status = 202 if parameters.orphan_dependents is False else 200
        return await object_response(request, endpoint, deleted.result, status)
    if endpoint.store.strategy.returns_deleted_object:
        return await object_response(request, endpoint, deleted.result)
    return dict_response(request, _status_of(scope, deleted))


async def _parameters(scope: RequestScope) -> DeleteParameters:
    request = scope.request
    body = await request.wire.read_body(BODY_SIZE_BYTES_MAX)
    request.body_size_bytes = len(body)
    request.step("limitedReadBody succeeded")
    value: Any = None
    if body:
        try:
            value, _ = decode_value(body, request.headers.get("content-type", ""), duplicates=False)
        except UndecodableBody as error:
            raise errors.bad_request(error.text) from None
        fault = type_fault(value, body, BUILTIN)
        if fault:
            raise errors.bad_request(fault)
        if request.body_read is not None:
            request.body_read(value, lambda: _internal(value))
        value = {} if value is None else value
    parameters = delete_parameters(request, value)
    warning = scope.endpoint.store.strategy.deletion_warning
    if warning and parameters.propagation_policy is None and parameters.orphan_dependents is None:
        request.warnings.append(warning)
    return parameters


def _internal(value: Any) -> Any:
    """Return the body in the form of audit events. As in Kubernetes, its type is the internal version of
    DeleteOptions.
    """
    if not isinstance(value, dict):
        return value
    rest = {name: part for name, part in value.items() if name not in ("kind", "apiVersion")}
    return {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal", **rest}


def _status_of(scope: RequestScope, deleted: Write) -> dict[str, Any]:
    definition = scope.endpoint.definition
    metadata = deleted.present["metadata"]
    return success_status(metadata["name"], definition.group, definition.resource, metadata.get("uid", ""))


async def delete_collection(scope: RequestScope) -> Response:
    """Delete a collection one by one, not atomically. Return 200 with the list of deleted objects.

    The response is encoded first: if an object cannot be converted to the version of the request, nothing is deleted.
    A webhook converts all objects in one request.
    """
    media = acceptable_for_list(scope)
    options = list_options(scope.request)
    parameters = await _parameters(scope)
    query = await query_of(scope, options)
    page = await read_page(scope, options, query, refresh=True)
    page = page._replace(records=await scope.endpoint.store.present_records(page.records, refresh=True))
    response = await page_response(scope, query, page, media)
    for record in page.records:
        ctx = Context(
            user=scope.ctx.user,
            groups=scope.ctx.groups,
            namespace=record.namespace,
            name=record.name,
            dry_run=scope.ctx.dry_run,
        )
        try:
            await run(deletion_of(scope, ctx, parameters, listed=record))
        except errors.StatusError as error:
            if error.reason is not errors.Reason.NOT_FOUND:
                raise
    return response

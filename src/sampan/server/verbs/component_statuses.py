"""GET and LIST of componentstatuses: health of the store, the scheduler and the controllers, checked on request.

The store is reported as `etcd-0`. A component is healthy if its process in this server runs, or if its Lease is held by
another server. Kubernetes checks only components on its own machine.

Source: kubernetes pkg/registry/core/componentstatus/{rest,validator}.go (1.36).
"""

import asyncio
from typing import Final

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.selectors import parse_fields, parse_labels
from sampan.core.time import parse_time
from sampan.server.media import media_of, written
from sampan.server.request import Response
from sampan.server.verbs.components import CONTROLLER_MANAGER, SCHEDULER
from sampan.server.verbs.list import acceptable_for_list
from sampan.server.verbs.options import ListOptions, list_options
from sampan.server.verbs.representations.respond import include_object, not_acceptable
from sampan.server.verbs.representations.tables import Tabler
from sampan.server.verbs.scope import RequestScope
from sampan.storage.store import StoreError
from sampan.wire import json as wire_json
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes

_STORE: Final = "etcd-0"
_STORE_TIMEOUT_S: Final = 20.0
_NAMESPACE: Final = "kube-system"
_NAMES: Final = (CONTROLLER_MANAGER, _STORE, SCHEDULER)


async def get_component_status(scope: RequestScope) -> Response:
    """Return 200 with the current health of one component. Raises 404."""
    request, name = scope.request, scope.request.info.name
    if name not in _NAMES:
        raise errors.not_found(GroupResource("", "componentstatus"), name)
    media = media_of(request)
    value = wire_json.encode(await _status(scope, name))
    if media is None:
        return Response(200, value)
    if media.transform == "Table":
        return written(media, _table(scope, media, [value]))
    if media.transform == "PartialObjectMetadata":
        return written(media, partial_bytes(value, media.api_version))
    if media.transform:
        raise not_acceptable(media)
    return written(media, value)


async def list_component_statuses(scope: RequestScope) -> Response:
    """Return 200 with all components. Selectors apply to their names. Raises 400."""
    names = _selected(list_options(scope.request))
    media = acceptable_for_list(scope)
    found = [await _status(scope, name) for name in names]
    if media is not None and media.transform:
        values = [wire_json.encode(each) for each in found]
        if media.transform == "Table":
            return written(media, _table(scope, media, values))
        items = b",".join(partial_bytes(value, media.api_version) for value in values)
        head = f'{{"kind":"{media.transform}","apiVersion":"{media.api_version}","metadata":{{}},"items":['
        return written(media, head.encode() + items + b"]}")
    items_of = [{"metadata": each["metadata"], "conditions": each["conditions"]} for each in found]
    value = wire_json.encode({"kind": "ComponentStatusList", "apiVersion": "v1", "metadata": {}, "items": items_of})
    return Response(200, value) if media is None else written(media, value)


def _table(scope: RequestScope, media: MediaType, values: list[bytes]) -> bytes:
    return Tabler(scope.endpoint, include_object(scope.request), media.api_version).table(values, {})


def _selected(options: ListOptions) -> list[str]:
    try:
        labels, fields = parse_labels(options.label_selector), parse_fields(options.field_selector)
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
    return [name for name in _NAMES if labels.matches({}) and fields.matches({"metadata.name": name})]


async def _status(scope: RequestScope, name: str) -> Object:
    fault = await _store_fault(scope) if name == _STORE else _fault(scope, name)
    condition: Object = {"type": "Healthy", "status": "False" if fault else "True"}
    condition |= {"error": fault} if name == _STORE and fault else {"message": fault or "ok"}
    return {"kind": "ComponentStatus", "apiVersion": "v1", "metadata": {"name": name}, "conditions": [condition]}


async def _store_fault(scope: RequestScope) -> str:
    try:
        async with asyncio.timeout(_STORE_TIMEOUT_S):
            await scope.cluster.store.revision()
    except (StoreError, OSError) as error:
        return str(error) or type(error).__name__
    return ""


def _fault(scope: RequestScope, name: str) -> str:
    component = scope.shared.components[name]
    if component.fault is not None:
        return component.fault()
    faults = [_lease_fault(scope, lease) for lease in component.leases]
    return "" if "" in faults else faults[0]


def _lease_fault(scope: RequestScope, name: str) -> str:
    lease = scope.cluster.reader.get("coordination.k8s.io", "leases", _NAMESPACE, name)
    spec = (lease or {}).get("spec") or {}
    if not spec.get("holderIdentity") or not spec.get("renewTime"):
        return f"no process holds the Lease {_NAMESPACE}/{name}"
    age_s = (scope.clock.now() - parse_time(spec["renewTime"])).total_seconds()
    if age_s > spec.get("leaseDurationSeconds", 0):
        return f"{spec['holderIdentity']} has not renewed the Lease {_NAMESPACE}/{name} since {spec['renewTime']}"
    return ""

"""Write the condition Available of an APIService."""

from sampan.core.errors import Reason, StatusError
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.server.aggregation.api_service import AVAILABLE, GROUP, RESOURCE, ApiService, api_service_of, condition_of
from sampan.server.aggregation.availability import AvailabilityResult


def endpoint_of(cluster: Cluster) -> Endpoint:
    """Return the endpoint of APIServices."""
    endpoint = cluster.endpoint(GROUP, "v1", RESOURCE)
    assert endpoint is not None
    return endpoint


def context_of(name: str) -> Context:
    """Return the context for a write to an APIService by the server."""
    return Context(user="system:apiserver", groups=("system:masters",), name=name)


async def write_result(cluster: Cluster, api_service: ApiService, result: AvailabilityResult) -> None:
    """Write a changed condition, unless the Service has changed too. **Raises** `StatusError` except 404."""
    endpoint = endpoint_of(cluster)
    now = format_time(cluster.clock.now())
    present = cluster.reader.get(GROUP, RESOURCE, "", api_service.name)
    if present is None or same(present, _with_condition(present, api_service, result, now)):
        return

    def edit(obj: Object, old: Object) -> Object:
        return _with_condition(obj, api_service, result, now)

    try:
        await update(endpoint.store, context_of(api_service.name), edit, cluster.clock, UpdateOptions(part=Part.STATUS))
    except StatusError as error:
        if error.reason is not Reason.NOT_FOUND:
            raise


def _with_condition(obj: Object, api_service: ApiService, result: AvailabilityResult, now: str) -> Object:
    """Return the object with the condition. The time of transition changes only with the status."""
    if api_service_of(obj).service != api_service.service:
        return obj
    condition, before = result.condition(now), condition_of(obj)
    if before is not None and before.get("status") == condition["status"]:
        condition["lastTransitionTime"] = before.get("lastTransitionTime", now)
    status = obj.get("status") or {}
    conditions = status.get("conditions") or []
    if before is None:
        conditions = [*conditions, condition]
    else:
        conditions = [condition if each.get("type") == AVAILABLE else each for each in conditions]
    return {**obj, "status": {**status, "conditions": conditions}}

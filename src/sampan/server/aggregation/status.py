"""Write the condition Available of an APIService."""

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.time import format_time
from sampan.registry.cluster import Cluster
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.server.aggregation.api_service import AVAILABLE, GROUP, RESOURCE, ApiService, api_service_of, condition_of
from sampan.server.aggregation.availability import Verdict


def endpoint_of(cluster: Cluster) -> Endpoint:
    """What serves APIServices."""
    endpoint = cluster.endpoint(GROUP, "v1", RESOURCE)
    assert endpoint is not None
    return endpoint


def context_of(name: str) -> Context:
    """The server itself writes an APIService."""
    return Context(user="system:apiserver", groups=("system:masters",), name=name)


async def write_verdict(cluster: Cluster, api_service: ApiService, verdict: Verdict) -> None:
    """Write what differs, unless the APIService has another service by now. Raises `StatusError` other than 404."""
    endpoint = endpoint_of(cluster)
    now = format_time(cluster.clock.now())
    present = cluster.reader.get(GROUP, RESOURCE, "", api_service.name)
    if present is None or present == _told(present, api_service, verdict, now):
        return

    def edit(obj: Object, old: Object) -> Object:
        return _told(obj, api_service, verdict, now)

    try:
        await update(endpoint.store, context_of(api_service.name), edit, cluster.clock, UpdateOptions(part=Part.STATUS))
    except StatusError as error:
        if error.reason is not Reason.NOT_FOUND:
            raise


def _told(obj: Object, api_service: ApiService, verdict: Verdict, now: str) -> Object:
    """The object with the condition; it says since when only if its status has changed."""
    if api_service_of(obj).service != api_service.service:
        return obj
    condition, before = verdict.condition(now), condition_of(obj)
    if before is not None and before.get("status") == condition["status"]:
        condition["lastTransitionTime"] = before.get("lastTransitionTime", now)
    status = obj.get("status") or {}
    conditions = status.get("conditions") or []
    if before is None:
        conditions = [*conditions, condition]
    else:
        conditions = [condition if each.get("type") == AVAILABLE else each for each in conditions]
    return {**obj, "status": {**status, "conditions": conditions}}

"""Client of the metrics APIs: resource metrics of Pods, custom metrics of objects, and external metrics.

Other servers provide these APIs. Nothing is cached here. Values are in thousandths.
Source: kubernetes pkg/controller/podautoscaler/metrics/client.go; k8s.io/metrics (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from sampan.client import ApiError, Client, ClientError
from sampan.core.gvk import GroupVersion
from sampan.core.numbers.quantity import parse
from sampan.core.time import parse_duration, parse_time
from sampan.kinds import autoscaling_v2
from sampan.resource import Object
from sampan.wire.json import UNREADABLE

_MILLI: Final = -3
_DEFAULT_WINDOW_S: Final = 60
_RESOURCE: Final = "/apis/metrics.k8s.io/v1beta1"
_CUSTOM: Final = ("/apis/custom.metrics.k8s.io/v1beta2", "/apis/custom.metrics.k8s.io/v1beta1")
_EXTERNAL: Final = "/apis/external.metrics.k8s.io/v1beta1"
_decoder: Final = msgspec.json.Decoder()


class MetricsError(Exception):
    """A metric is not available, or the response does not contain the requested values.

    The text goes to the autoscaler's status.
    """


class PodMetric(NamedTuple):
    """A measured value of a Pod, for the `window` before `at`."""

    value: int
    at: dt.datetime
    window: dt.timedelta


class Metrics:
    """Reads the metrics APIs of a cluster. All methods raise `MetricsError`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def of_pods(self, namespace: str, selector: str, resource: str, container: str) -> dict[str, PodMetric]:
        """Return the usage of a resource by the Pods' names, of all containers or of a single one."""
        items = await self._items(
            f"{_RESOURCE}/namespaces/{namespace}/pods", {"labelSelector": selector}, "resource metrics API"
        )
        found = {}
        for item in items:
            value = _usage(item.get("containers") or (), resource, container)
            if value is not None:
                window = dt.timedelta(microseconds=parse_duration(item.get("window", "0s")) / 1000)
                found[item["metadata"]["name"]] = PodMetric(value, parse_time(item["timestamp"]), window)
        return found

    async def custom_of_pods(
        self, namespace: str, selector: str, metric: str, metric_selector: str
    ) -> dict[str, PodMetric]:
        """Return a custom metric of Pods by their names."""
        query = {"labelSelector": selector, "metricLabelSelector": metric_selector}
        items = await self._custom(f"namespaces/{namespace}/pods/*/{metric}", query)
        return {item["describedObject"]["name"]: _pod_metric(item) for item in items}

    async def of_object(
        self, namespace: str, described: autoscaling_v2.CrossVersionObjectReference, metric: str, metric_selector: str
    ) -> int:
        """Return a custom metric of one object."""
        api_version, kind, name = described.get("apiVersion", ""), described["kind"], described["name"]
        if kind == "Namespace" and not GroupVersion.parse(api_version).group:
            path = f"namespaces/{namespace}/metrics/{metric}"
        else:
            try:
                info = await self._client.mapper.resource_for((api_version, kind))
            except ClientError as error:
                raise MetricsError(f"unable to fetch metrics from custom metrics API: {error}") from error
            path = f"namespaces/{namespace}/{info.gvr.group_resource}/{name}/{metric}"
        items = await self._custom(path, {"metricLabelSelector": metric_selector})
        return _milli(items[0]["value"])

    async def external(self, namespace: str, metric: str, selector: str) -> list[int]:
        """Return the values of an external metric."""
        path = f"{_EXTERNAL}/namespaces/{namespace}/{metric}"
        items = await self._items(path, {"labelSelector": selector}, "external metrics API")
        return [_milli(item["value"]) for item in items]

    async def _custom(self, path: str, query: Mapping[str, str]) -> list[Object]:
        """Read custom metrics with the newest version that the server has."""
        api = "custom metrics API"
        try:
            return await self._items(f"{_CUSTOM[0]}/{path}", query, api)
        except MetricsError as error:
            cause = error.__cause__
            if not isinstance(cause, ApiError) or cause.code != 404:
                raise
        return await self._items(f"{_CUSTOM[1]}/{path}", query, api)

    async def _items(self, path: str, query: Mapping[str, str], api: str) -> list[Object]:
        given = {name: value for name, value in query.items() if value}
        try:
            response = _decoder.decode(await self._client.rest.call("GET", path, query=given))
        except (ClientError, *UNREADABLE) as error:
            raise MetricsError(f"unable to fetch metrics from {api}: {_fault(error, path)}") from error
        items: list[Object] = response.get("items") or []
        if not items:
            raise MetricsError(f"no metrics returned from {api}")
        return items


def _fault(error: Exception, path: str) -> str:
    """Return the text of an error. If the server does not have the API, it is that of client-go.

    Source: apimachinery pkg/api/errors NewGenericServerResponse (1.36); k8s.io/metrics pkg/client/custom_metrics.
    """
    # A metrics server that lacks the metric responds with 404 too, but with a Status.
    if not isinstance(error, ApiError) or error.code != 404 or not error.message.startswith("the server answered"):
        return str(error)
    group, _, _, _, resource, *_ = path.removeprefix("/apis/").split("/")
    if group == "custom.metrics.k8s.io":
        return f"no custom metrics API ({group}) registered"
    return f"the server could not find the requested resource (get {resource}.{group})"


def _usage(containers: Any, resource: str, container: str) -> int | None:
    """Return the usage of one container or of all; None if a value is missing."""
    desired = [each for each in containers if container in ("", each["name"])]
    amounts = [(each.get("usage") or {}).get(resource) for each in desired]
    if not amounts or None in amounts:
        return None
    return sum(_milli(amount) for amount in amounts)


def _pod_metric(item: Object) -> PodMetric:
    seconds = item.get("windowSeconds")
    window = dt.timedelta(seconds=_DEFAULT_WINDOW_S if seconds is None else seconds)
    return PodMetric(_milli(item["value"]), parse_time(item["timestamp"]), window)


def _milli(amount: Any) -> int:
    return parse(str(amount)).scaled_value(_MILLI)

"""State of a running server, read through its API. Parts that the user may not read stay empty."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from sampan.client import ApiError, Client
from sampan.core.clock import unix_time
from sampan.core.time import parse_time

WARNINGS_MAX = 5
HEALTHY = "healthy"
_OPTIONAL = ("controller-manager", "scheduler")
"""Components that a cluster may intentionally run without."""
_LIST_MAX = 500
_METRICS = {
    "process_resident_memory_bytes": "resident_bytes",
    "process_start_time_seconds": "started",
    "apiserver_storage_size_bytes": "store_bytes",
}
_LINE = re.compile(rf"^({'|'.join(_METRICS)})(?:{{[^}}]*}})? (\S+)$", re.MULTILINE)


@dataclass(slots=True)
class ServerStatus:
    """State of a server and of its cluster."""

    url: str
    version: str = ""
    ready: bool = False
    failing: list[str] = field(default_factory=list)
    """Checks of /readyz that fail, and stores that are not healthy."""
    components: dict[str, str] = field(default_factory=dict)
    """Health by component: etcd-0 (the store), controller-manager, scheduler."""
    uptime_s: float = 0.0
    resident_bytes: int = 0
    store_bytes: int = 0
    nodes: int = 0
    nodes_not_ready: list[str] = field(default_factory=list)
    pods: dict[str, int] = field(default_factory=dict)
    """Number of Pods by phase."""
    warnings: list[str] = field(default_factory=list)
    """Newest events of type Warning."""


async def read_server_status(client: Client, url: str) -> ServerStatus:
    """Return the state of the server. Raises `TransportError` if it does not respond."""
    status = ServerStatus(url)
    version = await _get(client, "/version")
    status.version = version.get("gitVersion", "") if version else ""
    await _read_checks(client, status)
    await _read_metrics(client, status)
    for each in await _items(client, "/api/v1/componentstatuses"):
        name = each["metadata"]["name"]
        status.components[name] = _health(each)
        if name not in _OPTIONAL and status.components[name] != HEALTHY:
            status.failing.append(name)
    nodes = await _items(client, "/api/v1/nodes")
    status.nodes = len(nodes)
    status.nodes_not_ready = [node["metadata"]["name"] for node in nodes if not _is_ready(node)]
    pods = await _items(client, "/api/v1/pods")
    status.pods = dict(Counter(pod.get("status", {}).get("phase", "Unknown") for pod in pods))
    status.warnings = _warnings(await _items(client, "/api/v1/events", fieldSelector="type=Warning"))
    return status


def _health(component: dict[str, Any]) -> str:
    if any(each.get("status") == "True" for each in component.get("conditions") or ()):
        return HEALTHY
    return "not running" if component["metadata"]["name"] in _OPTIONAL else "unhealthy"


async def _read_checks(client: Client, status: ServerStatus) -> None:
    try:
        await client.rest.call("GET", "/readyz", headers={"accept": "*/*"})
        status.ready = True
    except ApiError as error:
        status.failing += re.findall(r"^\[-\](\S+)", str(error), re.MULTILINE) or ["readyz"]


async def _read_metrics(client: Client, status: ServerStatus) -> None:
    try:
        text = (await client.rest.call("GET", "/metrics", headers={"accept": "*/*"})).decode()
    except ApiError:
        return
    for name, value in _LINE.findall(text):
        if name == "process_start_time_seconds":
            status.uptime_s = max(unix_time() - float(value), 0.0)
        else:
            setattr(status, _METRICS[name], int(float(value)))


async def _get(client: Client, path: str, **query: str) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = orjson.loads(await client.rest.call("GET", path, query=query))
    except ApiError:
        return None
    return found


async def _items(client: Client, path: str, **query: str) -> list[dict[str, Any]]:
    """Return at most `_LIST_MAX` items: a status is a summary."""
    found = await _get(client, path, limit=str(_LIST_MAX), **query)
    return (found or {}).get("items") or []


def _is_ready(node: dict[str, Any]) -> bool:
    conditions = node.get("status", {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _warnings(events: Iterable[dict[str, Any]]) -> list[str]:
    newest = sorted(events, key=_last_time, reverse=True)[:WARNINGS_MAX]
    return [_warning(each) for each in newest]


def _last_time(event: dict[str, Any]) -> float:
    text = event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp")
    return parse_time(text).timestamp() if text else 0.0


def _warning(event: dict[str, Any]) -> str:
    about = event.get("involvedObject", {})
    name = "/".join(filter(None, (about.get("namespace"), about.get("name"))))
    text = " ".join(event.get("message", "").split())
    return f"{about.get('kind', '')} {name}: {event.get('reason', '')}: {text[:160]}"

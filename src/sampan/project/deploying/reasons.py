"""Reasons why the Pods of a Deployment are not ready: conditions, states of containers, events, and last log lines.

All texts come from the cluster, where other programs write them: each is cut, and characters that control a terminal
are replaced.
"""

from collections.abc import Iterator
from typing import Any, Final

from sampan.client import ApiError, Client, ClientError, ListOptions
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo

PODS: Final = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", True)
_REPLICA_SETS: Final = ResourceInfo(GroupVersionResource("apps", "v1", "replicasets"), "ReplicaSet", True)
_EVENTS: Final = ResourceInfo(GroupVersionResource("", "v1", "events"), "Event", True)
_TEXT_MAX: Final = 500
_PODS_MAX: Final = 3
_EVENTS_MAX: Final = 10
_LOG_LINES: Final = 15
_LOG_BYTES: Final = 16_384
_PAGE: Final = 500


async def brief_reasons(client: Client, deployment: Object) -> list[str]:
    """Return a text for each container that waits. Raises `ApiError` only if Pods cannot be read."""
    return [text for pod in await _pods(client, deployment) for text in _states(pod)][:_PODS_MAX]


async def full_reasons(client: Client, deployment: Object) -> list[str]:
    """Return all reasons, a line each. What cannot be read is a line too."""
    namespace = deployment["metadata"]["namespace"]
    lines = list(_conditions("Deployment", deployment, ("Available", "Progressing")))
    subjects = {deployment["metadata"]["uid"]}
    try:
        for replica_set in await _replica_sets(client, deployment):
            subjects.add(replica_set["metadata"]["uid"])
            lines += _conditions("ReplicaSet", replica_set, ())
        pods = await _pods(client, deployment)
    except ClientError as error:
        return [*lines, f"cannot read the Pods: {shown(str(error))}"]
    for pod in pods[:_PODS_MAX]:
        subjects.add(pod["metadata"]["uid"])
        lines += [*_conditions("Pod", pod, ("PodScheduled",)), *_states(pod)]
    lines += await _warnings(client, namespace, subjects)
    for pod in pods[:_PODS_MAX]:
        lines += await _logs(client, pod)
    return lines


async def _replica_sets(client: Client, deployment: Object) -> list[Object]:
    options = ListOptions(label_selector=_selector(deployment))
    listed = await client.resource(_REPLICA_SETS, namespace=deployment["metadata"]["namespace"]).list_all(options)
    return [each for each in listed.items if _is_owned(each, deployment["metadata"]["uid"])]


async def _pods(client: Client, deployment: Object) -> list[Object]:
    """Return the Pods that are not ready, those that have run first."""
    owners = {each["metadata"]["uid"] for each in await _replica_sets(client, deployment)}
    options = ListOptions(label_selector=_selector(deployment))
    listed = await client.resource(PODS, namespace=deployment["metadata"]["namespace"]).list_all(options)
    own = [each for each in listed.items if any(_is_owned(each, uid) for uid in owners)]
    return sorted((each for each in own if not _is_ready(each)), key=lambda pod: -_restarts(pod))


def _selector(deployment: Object) -> str:
    labels = ((deployment["spec"].get("selector") or {}).get("matchLabels")) or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _is_owned(obj: Object, uid: str) -> bool:
    return any(each.get("uid") == uid for each in obj["metadata"].get("ownerReferences") or [])


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _containers(pod: Object) -> list[Any]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]


def _restarts(pod: Object) -> int:
    return sum(each.get("restartCount", 0) for each in _containers(pod))


def _conditions(kind: str, obj: Object, good: tuple[str, ...]) -> Iterator[str]:
    """Yield the conditions that are bad: False for those in `good`, True for ReplicaFailure."""
    for each in (obj.get("status") or {}).get("conditions") or []:
        name, status = each.get("type"), each.get("status")
        if (name in good and status == "False") or (name == "ReplicaFailure" and status == "True"):
            what = f"{kind} {obj['metadata']['name']}"
            yield f"{what}: {name}={status} {each.get('reason', '')}: {shown(each.get('message', ''))}"


def _states(pod: Object) -> Iterator[str]:
    """Yield why containers do not run or are not ready."""
    name = pod["metadata"]["name"]
    for each in _containers(pod):
        state, last = each.get("state") or {}, (each.get("lastState") or {}).get("terminated")
        waiting, ended = state.get("waiting"), state.get("terminated") or last
        texts = []
        if waiting:
            texts.append(f"waits: {waiting.get('reason', '')} {shown(waiting.get('message', ''))}".rstrip())
        if ended and not (each.get("ready") or ended.get("reason") == "Completed"):
            code, reason = ended.get("exitCode"), ended.get("reason", "")
            texts.append(f"ended with exit code {code} ({reason}), {each.get('restartCount', 0)} restarts")
        if state.get("running") and not each.get("ready") and not texts:
            texts.append("runs, but its readiness probe has not succeeded")
        yield from (f"Pod {name}, container {each.get('name')}: {text}" for text in texts)


async def _warnings(client: Client, namespace: str, subjects: set[str]) -> list[str]:
    """Return the last events of type Warning about these objects, each text once."""
    options = ListOptions(field_selector="type=Warning")
    try:
        listed = await client.resource(_EVENTS, namespace=namespace).list_all(options, page_size=_PAGE)
    except ClientError as error:
        return [f"cannot read events: {shown(str(error))}"]
    found = dict[str, None]()
    for each in listed.items:
        about = each.get("involvedObject") or {}
        if about.get("uid") in subjects:
            what = f"{about.get('kind')} {about.get('name')}"
            line = f"event of {what}: {each.get('reason', '')}: {shown(each.get('message', ''))}"
            found.pop(line, None)
            found[line] = None
    return list(found)[-_EVENTS_MAX:]


async def _logs(client: Client, pod: Object) -> list[str]:
    """Return the last log lines of containers that are not ready, also of their previous run."""
    lines = list[str]()
    for each in _containers(pod):
        if each.get("ready"):
            continue
        shown_before = ""
        for previous in (True, False) if each.get("restartCount") else (False,):
            text = await _log(client, pod, each["name"], previous=previous)
            run = "last log lines of the previous run" if previous else "last log lines"
            if text and text != shown_before:  # A container that waits for its next start has one log for both.
                shown_before = text
                lines.append(f"{run} of Pod {pod['metadata']['name']}, container {each['name']}:")
                lines += [f"    {printable(line)}" for line in text.splitlines()[-_LOG_LINES:]]
    return lines


async def _log(client: Client, pod: Object, container: str, *, previous: bool) -> str:
    path = PODS.path(pod["metadata"]["namespace"], pod["metadata"]["name"], "log")
    query = {"container": container, "tailLines": str(_LOG_LINES), "limitBytes": str(_LOG_BYTES)}
    try:
        body = await client.rest.call("GET", path, query={**query, **({"previous": "true"} if previous else {})})
    except ApiError as error:
        # A container that never ran has no log, and one that has just started again no previous one.
        return f"cannot read the log: {error}" if error.code == 403 else ""
    except ClientError as error:
        return f"cannot read the log: {error}"
    return body.decode(errors="replace")


def shown(text: Any) -> str:
    """Return a text of the cluster for a terminal: one line, cut, without control characters."""
    return printable(" ".join(str(text).split()))


def printable(line: str) -> str:
    """Return a line for a terminal, with its indentation: cut, without control characters."""
    line = "".join(each if each.isprintable() else "�" for each in line.expandtabs())
    return line if len(line) <= _TEXT_MAX else f"{line[:_TEXT_MAX]}…"

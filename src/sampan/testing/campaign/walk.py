"""One walk of a campaign: an object is created, changed and changed back, and the state is noted after each step.

Concurrency: each walk has a separate event loop, in virtual time.
"""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from sampan.client import ApiError
from sampan.core.object import Object
from sampan.testing.campaign.campaign import Campaign
from sampan.testing.cluster import Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.explore.outcome import Outcome, differences, error_line, outcome_of
from sampan.testing.generated.values.semantics import companions
from sampan.testing.observations.suspicions import suspicions
from sampan.testing.observations.timeline import ObjectPlace, timeline
from sampan.testing.observations.values import short
from sampan.testing.operators.failures import OperatorFailed
from sampan.testing.operators.running import Running
from sampan.testing.time.virtual_time import run_virtual

_CALM_S: Final = 300.0
"""Virtual seconds after each step, for retries with a delay."""
_TIMELINE_LINES: Final = 30
_REVISIONS: Final = "/registry/controllerrevisions/"
_REPLICA_SETS: Final = "/registry/replicasets/"
_PODS: Final = "/registry/pods/"
_ANNOTATIONS: Final = "deployment.kubernetes.io/"
_OF_ONE_POD: Final = frozenset({"podIP", "podIPs", "containerStatuses", "initContainerStatuses"})


@dataclass(frozen=True, slots=True)
class Step:
    """State after a step."""

    outcome: Outcome
    refused: str = ""
    """Reason why the server refused the object."""
    failed: str = ""
    """Error of the operator in this step."""
    broken: str = ""
    """The whole message of an error that fails a test too: the first line, and the traceback."""
    idle: bool = False
    """True if the controllers of the operator have sent no request so far."""


@dataclass(frozen=True, slots=True)
class Walk:
    """All steps of a walk, and its timeline."""

    steps: Sequence[Step]
    timeline: Sequence[str]
    key: str = ""
    """Key of the object in lines about differences: `example.com/lakes/default/example`."""
    wrong: Sequence[str] = ()
    """Signs that the operator works against itself, leaks, and what a restart changes; only if `examined`."""


def walk(
    campaign: Campaign, objects: Sequence[Object], besides: Sequence[Object] = (), *, examined: bool = False
) -> Walk:
    """Apply objects one after the other in a new cluster. The Secrets and ConfigMaps that `besides` names exist too.

    `examined`: look for signs of a wrong operator, and restart it at the end.
    """
    random.seed(0)
    return run_virtual(_walk(campaign, objects, besides, examined))


async def _walk(campaign: Campaign, objects: Sequence[Object], besides: Sequence[Object], examined: bool) -> Walk:
    cluster = Cluster(ClusterOptions(loops=campaign.loops, allow_errors=campaign.allow_errors))
    steps: list[Step] = []
    try:
        await cluster.crds(*campaign.crds)
        for manifest in campaign.before:
            await cluster.apply(manifest)
        everything = {"all": [*objects, *besides]}
        for each in companions(everything):
            await cluster.apply(each)
        await cluster.settled()
        first = len(cluster.journal.writes)
        running = cluster.run(campaign.operator)
        started = await _settled(cluster)
        for number, obj in enumerate(objects):
            steps.append(await _step(cluster, running, obj, objects[number - 1] if number else None, first))
            if started is not None and not number:
                steps[0] = replace(steps[0], broken=_message(started))
            if steps[-1].refused:
                break
        wrong = await _examined(cluster, running, steps[-1], first) if examined and not steps[-1].broken else ()
        return Walk(steps, await _timeline(cluster, objects[0]), _key(steps[-1].outcome, objects[0]), wrong)
    finally:
        with suppress(Exception):
            await cluster.aclose()


async def _step(cluster: Cluster, running: Running, obj: Object, previous: Object | None, first: int) -> Step:
    done, refused = len(running.reconciles), ""
    try:
        if previous is None:
            await cluster.create(obj)
        else:
            await _change(cluster, previous, obj)
    except ApiError as refusal:
        refused = _first_line(refusal)
    failure = None if refused else await _settled(cluster)
    error = "" if failure is None else error_line(failure)
    failed = next((each.result for each in running.reconciles[done:] if each.result.startswith("failed")), error)
    # A reconcile that fails shows in the state. Anything else, such as an endless loop, is itself the outcome.
    outcome = await outcome_of(cluster, first, (), "" if isinstance(failure, OperatorFailed) else error, fired=True)
    # Without a manager, the operator may have another client.
    idle = running.manager is not None and not cluster.requests.by(running.name)
    return Step(_without_history(outcome), refused, failed, "" if failure is None else _message(failure), idle)


async def _examined(cluster: Cluster, running: Running, last: Step, first: int) -> list[str]:
    """Return what is wrong at the end of a walk without a change."""
    found = [*suspicions(cluster.journal.writes[first:], cluster.requests), *last.outcome.leaks]
    if found or not running.repeatable or not running.is_running:
        return found
    await running.stop()
    running.restart()
    if (failure := await _settled(cluster)) is not None:
        return [f"after a restart of the operator: {error_line(failure)}"]
    after = _without_history(await outcome_of(cluster, first, (), "", fired=True))
    lines = differences(last.outcome, after, frozenset(), counts=False)
    return [f"{each}, after a restart of the operator" for each in lines]


async def _settled(cluster: Cluster) -> Exception | None:
    """Wait until all retries have ended. Return the first error, or None."""
    found: Exception | None = None
    for wait in (cluster.settled, partial(cluster.advance, seconds=_CALM_S), cluster.settled):
        try:
            await wait()
        except OperatorFailed as failure:
            # The operator tries again, and the state that counts is the last one.
            found = found or failure
        except Exception as failure:
            return found or failure
    return found


def _message(failure: Exception) -> str:
    """Return the whole message of an error. The first line names the cause."""
    if isinstance(failure, OperatorFailed):
        return str(failure)
    return "\n".join([error_line(failure), *str(failure).splitlines()[1:]])


async def _change(cluster: Cluster, previous: Object, desired: Object) -> None:
    """Change the fields that differ between two objects, and keep the fields that the operator has set."""
    client = await cluster.admin().resource_for(desired, namespace=desired["metadata"].get("namespace"))
    live = await client.get(desired["metadata"]["name"])
    await client.update(_moved(live, previous, desired))


def _moved(live: Any, previous: Any, desired: Any) -> Any:
    """Return the live value with the change from the previous value to the desired one."""
    if not all(isinstance(each, dict) for each in (live, previous, desired)):
        return deepcopy(desired)
    found = dict(live)
    for key in {*previous, *desired}:
        if key not in desired:
            found.pop(key, None)
        elif key not in previous or previous[key] != desired[key]:
            found[key] = _moved(live.get(key), previous.get(key), desired[key])
    return found


def _key(outcome: Outcome, obj: Object) -> str:
    """Return the key of an object by its kind, namespace and name."""
    name, kind = obj["metadata"]["name"], (obj["kind"], _group(obj))
    namespace = obj["metadata"].get("namespace", "default")
    for key, found in outcome.state.items():
        if key.endswith((f"/{namespace}/{name}", f"/{name}")) and (found.get("kind"), _group(found)) == kind:
            return short(key)
    return ""


async def _timeline(cluster: Cluster, obj: Object) -> list[str]:
    client = await cluster.resource(obj["kind"].lower() + _group(obj))
    namespace = obj["metadata"].get("namespace", "default") if client.info.namespaced else ""
    place = ObjectPlace(client.info.gvr.resource, namespace, obj["metadata"]["name"])
    return list(timeline(place, cluster.journal, cluster.requests, cluster.reconciles))[-_TIMELINE_LINES:]


def _group(obj: Object) -> str:
    group = str(obj.get("apiVersion", "")).rpartition("/")[0]
    return f".{group}" if group else ""


def _first_line(error: Any) -> str:
    return (str(error).splitlines() or [""])[0]


def _without_history(outcome: Outcome) -> Outcome:
    """Return an outcome without what control loops keep from earlier states.

    A Deployment keeps old ReplicaSets and counts its revisions. Pods get random names and the next free address.
    """
    return replace(outcome, state={key: _plain(key, obj) for key, obj in outcome.state.items() if _is_now(key, obj)})


def _is_now(key: str, obj: Any) -> bool:
    """Return False for an object that is kept for a roll-back."""
    if key.startswith(_REPLICA_SETS):
        return bool(obj.get("spec", {}).get("replicas", 1) or not obj.get("metadata", {}).get("ownerReferences"))
    return not key.startswith(_REVISIONS)


def _plain(key: str, obj: Any) -> Any:
    found = _sorted(obj)
    metadata = found.get("metadata", {}) if isinstance(found, dict) else {}
    if "generateName" in metadata:
        metadata.pop("name", None)
    annotations = metadata.get("annotations")
    if annotations is not None:
        kept = {name: value for name, value in annotations.items() if not name.startswith(_ANNOTATIONS)}
        metadata["annotations"] = kept
        if not kept:
            del metadata["annotations"]
    if key.startswith(_PODS) and isinstance(found.get("status"), dict):
        found["status"] = {name: value for name, value in found["status"].items() if name not in _OF_ONE_POD}
    return found


def _sorted(value: Any) -> Any:
    """Return a copy in which conditions are sorted by their types: their order is that of their first changes."""
    if isinstance(value, Mapping):
        return {key: _conditions(each) if key == "conditions" else _sorted(each) for key, each in value.items()}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _conditions(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(each, Mapping) and "type" in each for each in value):
        return sorted((_sorted(each) for each in value), key=lambda each: str(each["type"]))
    return _sorted(value)

"""One walk of a campaign: an object is created, changed and changed back, and the state is noted after each step.

Concurrency: each walk has a separate event loop, in virtual time.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sampan.client import ApiError
from sampan.core.object import Object
from sampan.testing.cluster import Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.explore.outcome import Outcome, outcome_of
from sampan.testing.generated.campaign.campaign import Campaign
from sampan.testing.generated.campaign.history import without_history
from sampan.testing.generated.semantics import companions
from sampan.testing.operators import Running
from sampan.testing.timeline import Place, timeline
from sampan.testing.virtual_time import run_virtual

_CALM_S: Final = 300.0
"""Virtual seconds after each step, for retries with a delay."""
_TIMELINE_LINES: Final = 30


@dataclass(frozen=True, slots=True)
class Step:
    """State after a step."""

    outcome: Outcome
    refused: str = ""
    """Reason why the server refused the object."""
    failed: str = ""
    """Error of the operator in this step."""


@dataclass(frozen=True, slots=True)
class Walk:
    """All steps of a walk, and its timeline."""

    steps: Sequence[Step]
    timeline: Sequence[str]


def walk(campaign: Campaign, objects: Sequence[Object], besides: Sequence[Object] = ()) -> Walk:
    """Apply objects one after the other in a new cluster. The Secrets and ConfigMaps that `besides` names exist too."""
    random.seed(0)
    return run_virtual(_walk(campaign, objects, besides))


async def _walk(campaign: Campaign, objects: Sequence[Object], besides: Sequence[Object]) -> Walk:
    cluster = Cluster(ClusterOptions(loops=campaign.loops))
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
        await cluster.settled()
        for number, obj in enumerate(objects):
            steps.append(await _step(cluster, running, obj, objects[number - 1] if number else None, first))
            if steps[-1].refused:
                break
        return Walk(steps, await _timeline(cluster, objects[0]))
    finally:
        with suppress(Exception):
            await cluster.aclose()


async def _step(cluster: Cluster, running: Running, obj: Object, previous: Object | None, first: int) -> Step:
    done, error, refused = len(running.reconciles), "", ""
    try:
        if previous is None:
            await cluster.create(obj)
        else:
            await _change(cluster, previous, obj)
    except ApiError as refusal:
        refused = _first_line(refusal)
    try:
        if not refused:
            await cluster.settled()
            await cluster.advance(seconds=_CALM_S)
            await cluster.settled()
    except Exception as failure:
        error = f"{type(failure).__name__}: {_first_line(failure)}"
    failed = next((each.result for each in running.reconciles[done:] if each.result.startswith("failed")), error)
    outcome = await outcome_of(cluster, first, (), error, fired=True)
    return Step(without_history(outcome), refused, failed)


async def _change(cluster: Cluster, previous: Object, desired: Object) -> None:
    """Change the fields that differ between two objects, and keep the fields that the operator has set."""
    client = await cluster.admin().resource_for(desired, namespace=desired["metadata"].get("namespace"))
    live = await client.get(desired["metadata"]["name"])
    await client.update(_moved(live, previous, desired))


def _moved(live: Any, previous: Any, desired: Any) -> Any:
    """Return the live value with the change from the previous value to the wanted one."""
    if not all(isinstance(each, dict) for each in (live, previous, desired)):
        return deepcopy(desired)
    found = dict(live)
    for key in {*previous, *desired}:
        if key not in desired:
            found.pop(key, None)
        elif key not in previous or previous[key] != desired[key]:
            found[key] = _moved(live.get(key), previous.get(key), desired[key])
    return found


async def _timeline(cluster: Cluster, obj: Object) -> list[str]:
    client = await cluster.resource(obj["kind"].lower() + _group(obj))
    namespace = obj["metadata"].get("namespace", "default") if client.info.namespaced else ""
    place = Place(client.info.gvr.resource, namespace, obj["metadata"]["name"])
    return list(timeline(place, cluster.journal, cluster.requests, cluster.reconciles))[-_TIMELINE_LINES:]


def _group(obj: Object) -> str:
    group = str(obj["apiVersion"]).rpartition("/")[0]
    return f".{group}" if group else ""


def _first_line(error: Any) -> str:
    return (str(error).splitlines() or [""])[0]

"""Parts of the scenarios: the loop that gets the faults, the objects of a user, and rules for all states."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sampan.component_base.informers import FROM_THE_NEWEST_STATE
from sampan.operator.manager import Manager
from sampan.resource import Object
from sampan.testing.control_loops.set_up import set_up_loops
from sampan.testing.explore import Check, State, scenario

story = partial(scenario, informers=FROM_THE_NEWEST_STATE)
"""Makes a scenario of a loop, whose informers have the settings that loops have in a cluster."""


def loop(name: str) -> Callable[[Manager], None]:
    """Return an operator that is one built-in loop, which must not be among the loops of the scenario."""

    def set_up(manager: Manager) -> None:
        set_up_loops(manager, (name,), 0)

    return set_up


def pod_template(image: str = "one", **spec: Any) -> Object:
    """Return a template of Pods with the label of all Pods here."""
    return {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": image}], "terminationGracePeriodSeconds": 1, **spec},
    }


def workload(kind: str, *, image: str = "one", **spec: Any) -> Object:
    """Return a Deployment, ReplicaSet, StatefulSet or DaemonSet with the name `web`."""
    template = pod_template(image)
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def claim_template() -> Object:
    """Return a template of claims for the Pods of a StatefulSet."""
    return {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def job(**spec: Any) -> Object:
    """Return a Job with the name `work`."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "work"},
        "spec": {"template": pod_template(restartPolicy="Never"), **spec},
    }


def config_map(name: str, **metadata: Any) -> Object:
    """Return a ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}


def owned_by(owner: Object, **fields: Any) -> list[Object]:
    """Return the `ownerReferences` of what an object owns."""
    metadata = owner["metadata"]
    reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"]}
    return [{**reference, "uid": metadata["uid"], **fields}]


def ends(obj: Object) -> bool:
    """Return True if the object is being deleted."""
    return "deletionTimestamp" in obj["metadata"]


def alive(objects: Sequence[Object]) -> list[Object]:
    """Return the Pods that are neither ended nor being deleted."""
    over = ("Succeeded", "Failed")
    return [each for each in objects if not ends(each) and (each.get("status") or {}).get("phase") not in over]


def at_most_pods(count: int) -> Check:
    """Return the rule that no more Pods are alive at once."""

    def rule(state: State) -> str | None:
        return f"more than {count} Pods" if len(alive(state.list("Pod"))) > count else None

    return rule


def one_controller(state: State) -> str | None:
    """Rule: no object has two controllers."""
    owners = ((state.after or {}).get("metadata") or {}).get("ownerReferences") or []
    return "an object has two controllers" if sum(bool(each.get("controller")) for each in owners) > 1 else None


def finished_stays(state: State) -> str | None:
    """Rule: the counts of a Job never go down."""
    for field in ("succeeded", "failed"):
        if state.before is None or state.after is None or state.after["kind"] != "Job":
            continue
        before, after = ((each.get("status") or {}).get(field, 0) for each in (state.before, state.after))
        if after < before:
            return f"the Job's count {field} goes down"
    return None

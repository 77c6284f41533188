"""Decisions about a storm: which Pods it hits, when, and in which namespaces. No I/O."""

import datetime as dt
import random
from collections.abc import Sequence
from typing import Final

from sampan.core.time import format_time
from sampan.resource import Object

from storms.storm.v1 import Storm, Victim

ALLOWED: Final = "storms.example.com/allowed"
"""Label of a namespace whose owner permits storms."""
FORBIDDEN: Final = ("kube-system", "kube-public", "kube-node-lease")


def refusal(namespace: Object) -> str:
    """Return why no storm may be in a namespace; empty if it may."""
    name = namespace["metadata"]["name"]
    if name in FORBIDDEN:
        return f"{name} is never a target"
    if (namespace["metadata"].get("labels") or {}).get(ALLOWED) != "true":
        return f"namespace {name} has no label {ALLOWED}=true"
    return ""


def victims(storm: Storm, pods: Sequence[Object], begin: dt.datetime) -> list[Victim]:
    """Return the victims: at most `max` ready Pods, the same ones for the same seed, spread over the window."""
    targets = sorted((each for each in pods if is_ready(each)), key=lambda each: str(each["metadata"]["name"]))
    number = min(storm.spec.max, len(targets))
    chosen = random.Random(storm.spec.seed).sample(targets, number)
    step_s = storm.spec.window_seconds / max(number, 1)
    return [
        Victim(
            pod=pod["metadata"]["name"],
            uid=pod["metadata"]["uid"],
            action=storm.spec.actions[place % len(storm.spec.actions)],
            at=format_time(begin + dt.timedelta(seconds=place * step_s)),
        )
        for place, pod in enumerate(chosen)
    ]


def is_ready(pod: Object) -> bool:
    """Return True if the Pod is ready and stays."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]

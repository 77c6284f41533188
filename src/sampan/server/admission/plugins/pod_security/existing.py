"""Existing Pods of a namespace whose policy becomes stricter.

Source: k8s.io/pod-security-admission admission/admission.go `EvaluatePodsInNamespace` (1.36).
"""

from collections.abc import Collection, Sequence
from typing import Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.server.admission.plugins.pod_security.evaluator import Evaluator, reasons
from sampan.server.admission.plugins.pod_security.policy import LevelVersion
from sampan.storage.encoding import decode
from sampan.storage.records import Record

CHECKED_MAX: Final = 3000


def existing_pods(records: Sequence[Record], exempt_classes: Collection[str]) -> list[Object]:
    """Return the Pods in the order of evaluation: the first Pod of each controller, then the others."""
    first: list[Object] = []
    others: list[Object] = []
    seen: set[str] = set()
    for record in records:
        pod = decode(record.value)
        if pod["spec"].get("runtimeClassName") in exempt_classes:
            continue
        owners = pod["metadata"].get("ownerReferences") or ()
        controller = next((owner.get("uid", "") for owner in owners if owner.get("controller")), "")
        (others if controller and controller in seen else first).append(pod)
        seen.add(controller)
    return first + others


def warnings_of_existing(
    evaluator: Evaluator, pods: Sequence[Object], enforce: LevelVersion, namespace: str
) -> list[str]:
    """Return warnings for the Pods that violate the new level, grouped by violation."""
    breaking: dict[str, list[str]] = {}
    for pod in pods[:CHECKED_MAX]:
        text = reasons(evaluator.violations(enforce, pod["metadata"], pod["spec"]))
        if text:
            breaking.setdefault(text, []).append(pod["metadata"]["name"])
    warnings = []
    if len(pods) > CHECKED_MAX:
        warnings.append(
            f"new PodSecurity enforce level only checked against the first {CHECKED_MAX} of {len(pods)} existing pods"
        )
    if breaking:
        level = quote(str(enforce))
        warnings.append(
            f"existing pods in namespace {quote(namespace)} violate the new PodSecurity enforce level {level}"
        )
    return warnings + sorted(_warning(names, text) for text, names in breaking.items())


def _warning(names: list[str], text: str) -> str:
    more = len(names) - 1
    others = "" if not more else f" (and {more} other {'pod' if more == 1 else 'pods'})"
    return f"{min(names)}{others}: {text}"

"""Identities in a StatefulSet: ordinals, names, and the Pods and claims named after them.

Source: kube-controller-manager pkg/controller/statefulset/stateful_set_utils.go (1.36).
"""

from __future__ import annotations

import copy
import re
from typing import Final

import msgspec

from sampan.component_base.views import Pod
from sampan.controllers.workloads.history import POD_HASH_LABEL
from sampan.controllers.workloads.pod_control import pod_from_template
from sampan.kinds import apps_v1, core_v1
from sampan.resource import meta
from sampan.resource.view import view_decoder

POD_NAME_LABEL: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL: Final = "apps.kubernetes.io/pod-index"
_ORDINAL_MAX: Final = 2**31 - 1
_split = re.compile(r"(.*)-([0-9]+)", re.DOTALL).fullmatch


class _ClaimSource(msgspec.Struct, rename="camel", gc=False):
    claim_name: str = ""


class _Volume(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    persistent_volume_claim: _ClaimSource | None = None


_volumes = view_decoder(list[_Volume])


def parent_and_ordinal(pod_name: str) -> tuple[str, int]:
    """Split a Pod's name into the set's name and the ordinal; ("", -1) if the name has none."""
    found = _split(pod_name)
    if found is None:
        return "", -1
    ordinal = int(found[2])
    return found[1], ordinal if ordinal <= _ORDINAL_MAX else -1


def ordinal_of(pod: Pod) -> int:
    """Return the ordinal of a Pod; -1 if its name has none."""
    return parent_and_ordinal(pod.metadata.name)[1]


def ordinals(stateful_set: apps_v1.StatefulSet) -> range:
    """Return the desired ordinals."""
    spec = stateful_set["spec"]
    start = int((spec.get("ordinals") or {}).get("start") or 0)
    replicas = spec.get("replicas")
    return range(start, start + (1 if replicas is None else int(replicas)))


def pod_name(stateful_set: apps_v1.StatefulSet, ordinal: int) -> str:
    """Return the stable name of a replica: the set's name and the ordinal."""
    return f"{meta(stateful_set).name}-{ordinal}"


def claims_of(stateful_set: apps_v1.StatefulSet, ordinal: int) -> dict[str, core_v1.PersistentVolumeClaim]:
    """Return the claims for the Pod with an ordinal, by the names of its volumes."""
    spec = stateful_set["spec"]
    labels = spec["selector"].get("matchLabels") or {}
    return {
        template["metadata"]["name"]: _claim(stateful_set, template, ordinal, labels)
        for template in spec.get("volumeClaimTemplates") or ()
    }


def _claim(
    stateful_set: apps_v1.StatefulSet, template: core_v1.PersistentVolumeClaim, ordinal: int, labels: dict[str, str]
) -> core_v1.PersistentVolumeClaim:
    metadata = copy.deepcopy(template["metadata"])
    metadata["name"] = claim_name(stateful_set, metadata["name"], ordinal)
    metadata["namespace"] = meta(stateful_set).namespace
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
    spec = copy.deepcopy(template["spec"])
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def claim_name(stateful_set: apps_v1.StatefulSet, volume: str, ordinal: int) -> str:
    """Return the name of the claim for a volume of the Pod with an ordinal."""
    return f"{volume}-{pod_name(stateful_set, ordinal)}"


def is_claim_name(stateful_set: apps_v1.StatefulSet, name: str) -> bool:
    """Return True if a claim belongs to the set by its name, with any ordinal."""
    volume_and_set = parent_and_ordinal(name)[0]
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    return volume_and_set in {f"{each['metadata']['name']}-{meta(stateful_set).name}" for each in templates}


def new_pod(
    stateful_set: apps_v1.StatefulSet, template: core_v1.PodTemplateSpec, ordinal: int, *, revision: str
) -> core_v1.Pod:
    """Return a Pod to create, with the names, labels and volumes that its ordinal determines."""
    pod = pod_from_template(template, stateful_set)
    name = pod_name(stateful_set, ordinal)
    labels = pod["metadata"].setdefault("labels", {})
    labels |= {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(ordinal), POD_HASH_LABEL: revision}
    pod["metadata"]["name"] = name
    pod["spec"]["hostname"] = name
    # The set's service name always replaces the template's subdomain, even if it is empty.
    pod["spec"]["subdomain"] = stateful_set["spec"].get("serviceName", "")
    pod["spec"]["volumes"] = with_claims(stateful_set, ordinal, pod["spec"].get("volumes") or [])
    return pod


def with_claims(stateful_set: apps_v1.StatefulSet, ordinal: int, volumes: list[core_v1.Volume]) -> list[core_v1.Volume]:
    """Return a Pod's volumes: first the set's claims, then the volumes with other names."""
    claims = claims_of(stateful_set, ordinal)
    made: list[core_v1.Volume] = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
        for volume, claim in claims.items()
    ]
    return [*made, *(volume for volume in volumes if volume["name"] not in claims)]


def has_identity(pod: Pod) -> bool:
    """Return True if the Pod's labels contain its name."""
    return pod.metadata.labels.get(POD_NAME_LABEL) == pod.metadata.name


def has_storage(stateful_set: apps_v1.StatefulSet, pod: Pod) -> bool:
    """Return True if the Pod's volumes are the claims of the set's templates."""
    templates = stateful_set["spec"].get("volumeClaimTemplates") or ()
    if not templates:
        return True
    found = {volume.name: volume.persistent_volume_claim for volume in _volumes(pod.spec.volumes)}
    for template in templates:
        name = template["metadata"]["name"]
        source = found.get(name)
        if source is None or source.claim_name != claim_name(stateful_set, name, ordinal_of(pod)):
            return False
    return True


def revision_name_of(pod: Pod) -> str:
    """Return the name of the revision from which a Pod was created."""
    return pod.metadata.labels.get(POD_HASH_LABEL, "")

"""Pod templates as identities: finding the ReplicaSet that has the Deployment's template.

Source: kube-controller-manager pkg/controller/deployment/util/deployment_util.go `EqualIgnoreHash`;
pkg/controller/controller_utils.go `ComputeHash` (1.36). The hashes differ from those of Kubernetes, which depend on
Go's structs.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Final

from sampan.controllers.deployment.sizes import by_age
from sampan.core.validation.names import GENERATED_SUFFIX_ALPHABET
from sampan.kinds import apps_v1, core_v1, meta_v1
from sampan.wire import json

HASH_LABEL: Final = "pod-template-hash"
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_NAME_LENGTH_MAX: Final = 253


def template_hash(template: core_v1.PodTemplateSpec, collisions: int | None) -> str:
    """Return a short hash of a template.

    The hash has 32 bits. The caller increments `collisions` to get another hash after a collision.
    """
    # FNV-1a (xor, then multiply), as in kube-controller-manager.
    value = _FNV_OFFSET
    for byte in json.encode_sorted(template) + (str(collisions).encode() if collisions else b""):
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return "".join(GENERATED_SUFFIX_ALPHABET[ord(digit) % len(GENERATED_SUFFIX_ALPHABET)] for digit in str(value))


def replica_set_name(deployment: str, hashed: str) -> str:
    """Return the name of the ReplicaSet for a template's hash."""
    return f"{deployment[: _NAME_LENGTH_MAX - 1 - len(hashed)]}-{hashed}"


def same_template(one: core_v1.PodTemplateSpec, other: core_v1.PodTemplateSpec) -> bool:
    """Return True if two templates describe the same Pods. The hash in a ReplicaSet's labels does not count."""
    return _bare(one) == _bare(other)


def find_new(
    template: core_v1.PodTemplateSpec, replica_sets: Sequence[apps_v1.ReplicaSet]
) -> apps_v1.ReplicaSet | None:
    """Return the ReplicaSet with the template; the oldest if there are several."""
    same = [each for each in replica_sets if same_template(each["spec"]["template"], template)]
    return min(same, key=by_age, default=None)


def labelled(obj: core_v1.PodTemplateSpec, hashed: str) -> core_v1.PodTemplateSpec:
    """Return a copy of a template with the hash as a label."""
    made = copy.deepcopy(obj)
    made.setdefault("metadata", {}).setdefault("labels", {})[HASH_LABEL] = hashed
    return made


def _bare(template: core_v1.PodTemplateSpec) -> bytes:
    metadata: meta_v1.ObjectMeta = {**(template.get("metadata") or {})}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    metadata["labels"] = labels
    return json.encode_sorted({"metadata": metadata, "spec": template["spec"]})

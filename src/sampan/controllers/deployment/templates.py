"""Pod templates as identities: which ReplicaSet is the one of the Deployment's template.

Source: kube-controller-manager pkg/controller/deployment/util/deployment_util.go `EqualIgnoreHash`;
pkg/controller/controller_utils.go `ComputeHash` (1.36), whose numbers depend on Go's structs: ours are others.
"""

import copy
from collections.abc import Sequence
from typing import Final

from sampan.controllers.deployment.sizes import by_age
from sampan.core.names import GENERATED_SUFFIX_ALPHABET
from sampan.resource import Object
from sampan.wire import json

HASH_LABEL: Final = "pod-template-hash"
_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_NAME_LENGTH_MAX: Final = 253


def template_hash(template: Object, collisions: int | None) -> str:
    """A short text that differs for different templates, as far as 32 bits go; `collisions` is counted up if not."""
    value = _FNV_OFFSET
    for byte in json.encode_sorted(template) + (str(collisions).encode() if collisions else b""):
        value = ((value ^ byte) * _FNV_PRIME) & 0xFFFFFFFF
    return "".join(GENERATED_SUFFIX_ALPHABET[ord(digit) % len(GENERATED_SUFFIX_ALPHABET)] for digit in str(value))


def replica_set_name(deployment: str, hashed: str) -> str:
    """The name of the ReplicaSet of a template."""
    return f"{deployment[: _NAME_LENGTH_MAX - 1 - len(hashed)]}-{hashed}"


def same_template(one: Object, other: Object) -> bool:
    """Whether two templates mean the same Pods; the hash that a ReplicaSet's has in its labels does not count."""
    return _bare(one) == _bare(other)


def find_new(template: Object, replica_sets: Sequence[Object]) -> Object | None:
    """The ReplicaSet of the template; of several the oldest."""
    same = [each for each in replica_sets if same_template(each["spec"]["template"], template)]
    return min(same, key=by_age, default=None)


def labelled(obj: Object, hashed: str) -> Object:
    """A copy of a template with the hash among its labels."""
    made = copy.deepcopy(obj)
    made.setdefault("metadata", {}).setdefault("labels", {})[HASH_LABEL] = hashed
    return made


def _bare(template: Object) -> bytes:
    metadata = dict(template.get("metadata") or {})
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH_LABEL}
    metadata["labels"] = labels
    return json.encode_sorted({"metadata": metadata, "spec": template["spec"]})

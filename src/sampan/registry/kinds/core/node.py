"""Nodes. Source: pkg/registry/core/node/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, TypedDict

import msgspec

from sampan.core.field import FieldError, Path, duplicate, forbidden, internal, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors, label_value_errors
from sampan.core.validation.values import config_map_key_errors
from sampan.kinds import core_v1
from sampan.registry.columns.cells import EMPTY, NAME, NONE, UNKNOWN, at, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.resources import check_amount
from sampan.registry.kinds.pod_spec.scheduling import check_taint_effect
from sampan.registry.rules.fields import check_qualified_name, duplicate_with_detail
from sampan.registry.rules.ip_addresses import are_dual_stack, check_cidr, cidr_warnings
from sampan.registry.rules.quantities import round_up_to_milli
from sampan.registry.strategy import Context, Strategy
from sampan.wire.json import UNREADABLE

Errors = list[FieldError]
_METADATA = Path("metadata")
_SPEC = Path("spec")
_STATUS = Path("status")
_TAINTS = "scheduler.alpha.kubernetes.io/taints"
_is_feature = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*").fullmatch


class _Spec(TypedDict, total=False):
    unschedulable: bool


class _Part(TypedDict, total=False):
    """Fields that field selectors read."""

    spec: _Spec | None


class NodeStrategy(Strategy):
    """Strategy of nodes. Kubelets create them with a status."""

    has_generation = False
    keeps_status_on_create = True
    labels: ClassVar[Sequence[str]] = ("spec.unschedulable",)
    selects_namespace = False

    def default(self, obj: core_v1.Node) -> None:
        status = obj.get("status")
        if status:
            for name in ("capacity", "allocatable"):
                if status.get(name):
                    round_up_to_milli(status[name])
            if status.get("capacity") and status.get("allocatable") is None:
                status["allocatable"] = dict(status["capacity"])
        _align_cidrs(obj.setdefault("spec", {}))

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        obj["spec"].pop("configSource", None)
        (obj.get("status") or {}).pop("config", None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        if "configSource" not in (old.get("spec") or ()):
            obj["spec"].pop("configSource", None)

    def prepare_for_status_update(self, ctx: Context, obj: Object, old: Object) -> None:
        if "config" not in (old.get("status") or ()):
            (obj.get("status") or {}).pop("config", None)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        spec: core_v1.NodeSpec = obj.get("spec") or {}
        status = obj.get("status") or {}
        _check_common(obj, spec, status, errors)
        swap = ((status.get("nodeInfo") or {}).get("swap") or {}).get("capacity")
        if swap is not None and swap <= 0:
            at = _METADATA.child("nodeSwapStatus", "capacity")
            errors.append(invalid(at, swap, "must be greater than zero"))
        cidrs = spec.get("podCIDRs") or []
        at = _SPEC.child("podCIDRs")
        bad = None
        for i, cidr in enumerate(cidrs):
            known = len(errors)
            check_cidr(cidr, at.index(i), errors)
            if bad is None and len(errors) > known:
                bad = i
        if len(cidrs) > 1 and bad is not None:
            text = f"invalid CIDR[{bad}]: invalid CIDR address: {cidrs[bad]}"
            errors.append(internal(at, f"invalid PodCIDRs. failed to check with dual stack with error:{text}"))
        if len(cidrs) > 1 and (len(cidrs) > 2 or not are_dual_stack([c.partition("/")[0] for c in cidrs])):
            errors.append(invalid(at, cidrs, "may specify no more than one CIDR for each IP family"))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        self.check(ctx, obj, errors)
        _check_transition(obj, old, errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        _check_transition(obj, old, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        spec = obj.get("spec") or {}
        warnings = []
        if spec.get("configSource") is not None:
            warnings.append("spec.configSource: the feature is removed")
        if spec.get("externalID"):
            warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
        for i, cidr in enumerate(spec.get("podCIDRs") or ()):
            warnings.extend(cidr_warnings(_SPEC.child("podCIDRs").index(i), cidr))
        return warnings

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        return [] if ctx.subresource == "status" else self.warnings_on_create(ctx, obj)

    selectable_part: ClassVar[Any] = _Part

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"spec.unschedulable": "true" if (obj.get("spec") or {}).get("unschedulable") else "false"}


def _align_cidrs(spec: core_v1.NodeSpec) -> None:
    """Make `podCIDR` equal to the first of `podCIDRs`. If they differ, the older field `podCIDR` wins."""
    cidr, cidrs = spec.get("podCIDR"), spec.get("podCIDRs")
    if cidr and (not cidrs or cidrs[0] != cidr):
        spec["podCIDRs"] = [cidr]
    elif cidrs and not cidr:
        spec["podCIDR"] = cidrs[0]


def _check_common(obj: Object, spec: core_v1.NodeSpec, status: Object, errors: Errors) -> None:
    annotations = obj["metadata"].get("annotations")
    if annotations and annotations.get(_TAINTS):
        _check_taint_annotation(annotations[_TAINTS], errors)
    if spec.get("taints"):
        check_taints(spec["taints"], _METADATA.child("taints"), errors)
    for kind in ("capacity", "allocatable"):
        for name, text in (status.get(kind) or {}).items():
            check_amount(name, text, _STATUS.child(kind, name), errors)
    _check_features(status.get("declaredFeatures") or [], _STATUS.child("declaredFeatures"), errors)


def _check_taint_annotation(text: str, errors: Errors) -> None:
    at = _METADATA.child("annotations")
    try:
        taints: Any = msgspec.json.decode(text, type=list[dict[str, Any]])
    except UNREADABLE as error:
        errors.append(invalid(at, _TAINTS, str(error)))
        return
    check_taints(taints, at.child(_TAINTS), errors)


def check_taints(taints: list[core_v1.Taint], path: Path, errors: Errors) -> None:
    """Check taints, which must be unique by key and effect."""
    seen: set[tuple[str, str]] = set()
    for i, taint in enumerate(taints):
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        check_qualified_name(key, path.index(i).child("key"), errors)
        if texts := label_value_errors(value):
            errors.append(invalid(path.index(i).child("value"), value, ";".join(texts)))
        check_taint_effect(effect, path.index(i).child("effect"), errors)
        if (key, effect) in seen:
            text = "taints must be unique by key and effect pair"
            errors.append(duplicate_with_detail(path.index(i), taint, text))
        seen.add((key, effect))


def _check_features(features: list[str], path: Path, errors: Errors) -> None:
    for i, name in enumerate(features):
        if len(name) > 253:
            text = f'invalid feature name "{name}": must be no more than 253 characters'
            errors.append(invalid(path.index(i), name, text))
        elif not _is_feature(name):
            text = (
                f'invalid feature name "{name}": must start with an UpperCamelCase segment, with subsequent segments '
                "separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), "
                "and contain only alphanumeric characters and slashes"
            )
            errors.append(invalid(path.index(i), name, text))
        if i + 1 < len(features):
            following = features[i + 1]
            if name == following:
                errors.append(duplicate(path.index(i + 1), following))
            elif name > following:
                errors.append(invalid(path.index(i + 1), following, "list must be sorted alphabetically"))


def _check_transition(obj: Object, old: Object, errors: Errors) -> None:
    spec, old_spec, status = obj.get("spec") or {}, old.get("spec") or {}, obj.get("status") or {}
    _check_common(obj, {}, status, errors)
    addresses: list[Object] = []
    for i, address in enumerate(status.get("addresses") or ()):
        if address in addresses:
            shown = {"Type": address.get("type", ""), "Address": address.get("address", "")}
            errors.append(duplicate(_STATUS.child("addresses").index(i), shown))
        addresses.append(address)
    old_cidrs, cidrs = old_spec.get("podCIDRs") or [], spec.get("podCIDRs") or []
    text = 'node updates may not change podCIDR except from "" to valid'
    if old_cidrs and len(old_cidrs) != len(cidrs):
        errors.append(forbidden(_SPEC.child("podCIDRs"), text))
    elif old_cidrs:
        changed = [1 for one, other in zip(old_cidrs, cidrs, strict=True) if one != other]
        errors.extend(forbidden(_SPEC.child("podCIDRs"), text) for _ in changed)
    if old_spec.get("providerID") and old_spec["providerID"] != spec.get("providerID", ""):
        text = 'node updates may not change providerID except from "" to valid'
        errors.append(forbidden(_SPEC.child("providerID"), text))
    if spec.get("configSource") is not None:
        _check_config_source(spec["configSource"], _SPEC.child("configSource"), errors, in_spec=True)
    if status.get("config") is not None:
        _check_config_status(status["config"], _STATUS.child("config"), errors)
    if spec.get("taints"):
        check_taints(spec["taints"], _METADATA.child("taints"), errors)
    if spec.get("externalID", "") != old_spec.get("externalID", ""):
        errors.append(forbidden(_SPEC.child("externalID"), "may not be updated"))


_NODE_ROLE_PREFIX = "node-role.kubernetes.io/"


def _status(node: core_v1.Node) -> str:
    ready = "Unknown"
    for condition in node.get("status", EMPTY).get("conditions", ()):
        if condition["type"] == "Ready":
            ready = "Ready" if condition["status"] == "True" else "NotReady"
    return f"{ready},SchedulingDisabled" if node.get("spec", EMPTY).get("unschedulable") else ready


def _roles(node: core_v1.Node) -> str:
    roles = set()
    for key, value in node["metadata"].get("labels", EMPTY).items():
        if key.startswith(_NODE_ROLE_PREFIX):
            roles.add(key[len(_NODE_ROLE_PREFIX) :])
        elif key == "kubernetes.io/role":
            roles.add(value)
    return ",".join(sorted(roles - {""})) or NONE


def _address(node: core_v1.Node, kind: str) -> str:
    for address in node.get("status", EMPTY).get("addresses", ()):
        if address["type"] == kind:
            return str(address["address"])
    return NONE


def _info(node: core_v1.Node, field: str) -> str:
    info: Mapping[str, Any] = node.get("status", EMPTY).get("nodeInfo", EMPTY)
    return info.get(field) or UNKNOWN


def _kernel(node: core_v1.Node) -> str:
    architecture = node.get("status", EMPTY).get("nodeInfo", EMPTY).get("architecture")
    kernel = _info(node, "kernelVersion")
    return f"{kernel} ({architecture})" if architecture else kernel


def _check_config_source(source: core_v1.NodeConfigSource, path: Path, errors: Errors, *, in_spec: bool) -> None:
    """Check a kubelet's source of configuration: exactly one reference. Kubernetes removed the feature.

    Source: pkg/apis/core/validation/validation.go validateNodeConfigSourceSpec (1.36).
    """
    reference = source.get("configMap")
    if reference is None:
        errors.append(invalid(path, source, "exactly one reference subfield must be non-nil"))
        return
    at = path.child("configMap")
    for field in ("uid", "resourceVersion"):
        if in_spec and reference.get(field):
            errors.append(forbidden(at.child(field), f"{field} must not be set in spec"))
        elif not in_spec and not reference.get(field):
            errors.append(required(at.child(field)))
    namespace, name, key = (reference.get(field, "") for field in ("namespace", "name", "kubeletConfigKey"))
    for field, value, texts in (
        ("namespace", namespace, dns1123_label_errors(namespace)),
        ("name", name, dns1123_subdomain_errors(name)),
        ("kubeletConfigKey", key, config_map_key_errors(key)),
    ):
        if not value:
            errors.append(required(at.child(field)))
        else:
            errors.extend(invalid(at.child(field), value, text) for text in texts)


def _check_config_status(status: core_v1.NodeConfigStatus, path: Path, errors: Errors) -> None:
    """Check a NodeConfigStatus."""
    for name in ("assigned", "active", "lastKnownGood"):
        if status.get(name) is not None:
            _check_config_source(status[name], path.child(name), errors, in_spec=False)


KINDS: Final = (
    Kind(
        "",
        "nodes",
        NodeStrategy(),
        columns=lambda ages: (
            NAME,
            column("Status", _status),
            column("Roles", _roles),
            ages.column,
            column("Version", at("status", "nodeInfo", "kubeletVersion")),
            column("Internal-IP", lambda obj: _address(obj, "InternalIP"), wide=True),
            column("External-IP", lambda obj: _address(obj, "ExternalIP"), wide=True),
            column("OS-Image", lambda obj: _info(obj, "osImage"), wide=True),
            column("Kernel-Version", _kernel, wide=True),
            column("Container-Runtime", lambda obj: _info(obj, "containerRuntimeVersion"), wide=True),
        ),
        storage_prefix="minions",
    ),
)

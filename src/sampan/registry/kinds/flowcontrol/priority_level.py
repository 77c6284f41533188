"""Priority levels. Source: pkg/registry/flowcontrol, pkg/apis/flowcontrol/{v1,validation} (1.36)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

from sampan.core.field import Path, forbidden, invalid, required
from sampan.core.object import Object
from sampan.kinds import flowcontrol_v1
from sampan.registry.columns.cells import EMPTY, NAME, NONE, Cell, at, column
from sampan.registry.kind import Kind
from sampan.registry.kinds.flowcontrol.bootstrap import FLOW_CONTROL_GROUP, MANDATORY, priority_levels
from sampan.registry.kinds.flowcontrol.flow_schema import check_condition_types, keep_all_metadata, same_spec
from sampan.registry.old_versions.flow_control import assured_shares, nominal_shares
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_SHARES_DEFAULT = 30
_QUEUING_DEFAULTS = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}
_QUEUES_MAX = 10_000_000
_HASH_BITS_MAX = 60
_PRESERVE_ZERO = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"


def required_entropy_bits(deck: int, hand: int) -> int:
    """Return the number of hash bits that shuffle sharding needs to deal `hand` of `deck` cards."""
    return math.ceil(math.log2(deck) * hand)


def _check_queuing(queuing: flowcontrol_v1.QueuingConfiguration, path: Path, errors: Errors) -> None:
    limit, queues, hand = (queuing.get(name, 0) for name in ("queueLengthLimit", "queues", "handSize"))
    if limit <= 0:
        errors.append(invalid(path.child("queueLengthLimit"), limit, "must be positive"))
    if queues <= 0:
        errors.append(invalid(path.child("queues"), queues, "must be positive"))
    elif queues > _QUEUES_MAX:
        errors.append(invalid(path.child("queues"), queues, f"must not be greater than {_QUEUES_MAX}"))
    at = path.child("handSize")
    if hand <= 0:
        errors.append(invalid(at, hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(at, hand, f"should not be greater than queues ({queues})"))
    elif required_entropy_bits(queues, hand) > _HASH_BITS_MAX:
        detail = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater than "
            f"{_HASH_BITS_MAX}"
        )
        errors.append(invalid(at, hand, detail))


def _check_response(response: flowcontrol_v1.LimitResponse, path: Path, errors: Errors) -> None:
    kind, queuing, at = response.get("type", ""), response.get("queuing"), path.child("queuing")
    if kind == "Reject":
        if queuing is not None:
            errors.append(forbidden(at, "must be nil if limited.limitResponse.type is not Limited"))
    elif kind == "Queue":
        if queuing is None:
            errors.append(required(at, "must not be empty if limited.limitResponse.type is Limited"))
        else:
            _check_queuing(queuing, at, errors)
    elif not kind:
        errors.append(required(path.child("type")))
    else:
        errors.append(not_supported(path.child("type"), kind, ("Queue", "Reject")))


def _check_shares(part: Object, path: Path, errors: Errors) -> None:
    shares, lendable = part.get("nominalConcurrencyShares", 0), part.get("lendablePercent", 0)
    if shares < 0:
        errors.append(invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer"))
    if "limitResponse" in part:
        _check_response(part["limitResponse"], path.child("limitResponse"), errors)
    if not 0 <= lendable <= 100:
        errors.append(invalid(path.child("lendablePercent"), lendable, "must be between 0 and 100, inclusive"))
    borrowing = part.get("borrowingLimitPercent", 0)
    if borrowing < 0:
        detail = "if specified, must be a non-negative integer"
        errors.append(invalid(path.child("borrowingLimitPercent"), borrowing, detail))


def _check_mandatory(name: str, spec: Object, errors: Errors) -> None:
    """Check that mandatory levels are unchanged, except for the seats of `exempt`."""
    if name not in MANDATORY:
        return
    expected, detail = priority_levels()[name], f"spec of '{name}' must equal the fixed value"
    if name == "exempt":
        spec, expected = {**spec, "exempt": None}, {**expected, "exempt": None}
        detail = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
    if not same_spec(spec, expected):
        errors.append(invalid(_SPEC, spec, detail))


class PriorityLevelConfigurationStrategy(Strategy):
    """Defaults and rules of priority levels."""

    reset_metadata: ClassVar = {}

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Restore all metadata."""
        super().keep_for_status_update(obj, old)
        keep_all_metadata(obj, old)

    def default(self, obj: Object) -> None:
        """Set defaults: 30 shares, none lent; 64 queues with a limit of 50 requests, and hands of 8."""
        spec = obj.setdefault("spec", {})
        exempt, limited = spec.get("exempt"), spec.get("limited")
        if exempt is not None:
            exempt.setdefault("nominalConcurrencyShares", 0)
            exempt.setdefault("lendablePercent", 0)
        if limited is None:
            return
        limited.setdefault("nominalConcurrencyShares", _SHARES_DEFAULT)
        limited.setdefault("lendablePercent", 0)
        queuing = limited.setdefault("limitResponse", {}).get("queuing")
        if queuing is not None:
            for name, value in _QUEUING_DEFAULTS.items():
                if not queuing.get(name):
                    queuing[name] = value

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        metadata, spec = obj["metadata"], obj.get("spec", {})
        if _PRESERVE_ZERO in metadata.get("annotations", {}):
            errors.append(forbidden(Path("metadata", "annotations"), f"annotation '{_PRESERVE_ZERO}' is forbidden"))
        kind, exempt, limited = spec.get("type", ""), spec.get("exempt"), spec.get("limited")
        if (metadata.get("name") == "exempt") != (kind == "Exempt"):
            errors.append(invalid(_SPEC.child("type"), kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
        if kind == "Exempt":
            if limited is not None:
                errors.append(forbidden(_SPEC.child("limited"), "must be nil if the type is not Limited"))
            if exempt is not None:
                _check_shares(exempt, _SPEC.child("exempt"), errors)
        elif kind == "Limited":
            if exempt is not None:
                errors.append(forbidden(_SPEC.child("exempt"), "must be nil if the type is Limited"))
            if limited is None:
                errors.append(required(_SPEC.child("limited"), "must not be empty when type is Limited"))
            else:
                _check_shares(limited, _SPEC.child("limited"), errors)
        elif not kind:
            errors.append(required(_SPEC.child("type")))
        else:
            errors.append(not_supported(_SPEC.child("type"), kind, ("Exempt", "Limited")))
        _check_mandatory(metadata.get("name", ""), spec, errors)
        check_condition_types(obj.get("status", {}), errors)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that the types of conditions are unique."""
        check_condition_types(obj.get("status", {}), errors)


def _queuing(field: str) -> Cell:
    response = at("spec", "limited", "limitResponse", default=EMPTY)

    def cell(level: flowcontrol_v1.PriorityLevelConfiguration) -> Any:
        queuing = response(level).get("queuing")
        return NONE if queuing is None else queuing.get(field, 0)

    return cell


def _shares(level: flowcontrol_v1.PriorityLevelConfiguration) -> Any:
    limited = level.get("spec", EMPTY).get("limited")
    return NONE if limited is None else limited.get("nominalConcurrencyShares", 0)


KINDS: Final = (
    Kind(
        FLOW_CONTROL_GROUP,
        "prioritylevelconfigurations",
        PriorityLevelConfigurationStrategy(),
        old_versions={
            "flowcontrol.apiserver.k8s.io/v1beta1": assured_shares,
            "flowcontrol.apiserver.k8s.io/v1beta2": assured_shares,
            "flowcontrol.apiserver.k8s.io/v1beta3": nominal_shares,
        },
        columns=lambda ages: (
            NAME,
            column("Type", at("spec", "type")),
            column("NominalConcurrencyShares", _shares),
            column("Queues", _queuing("queues")),
            column("HandSize", _queuing("handSize")),
            column("QueueLengthLimit", _queuing("queueLengthLimit")),
            ages.column,
        ),
    ),
)

"""Case of a table: a valid object, a change that breaks a rule, and the texts of the faults."""

import copy
from collections.abc import Callable
from typing import Any

from sampan.core.object import Object
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.registry.strategy import Context, Strategy

STRATEGIES = {(kind.group, kind.resource): kind.strategy for kind in BUILTIN_KINDS}
CTX = Context(namespace="default", name="web")

Change = dict[str, Any]
"""Dotted path -> new value. `DROP` removes the field. A number in a path is an index of a list."""


class _Drop:
    def __repr__(self) -> str:
        return "DROP"


DROP = _Drop()


def changed(obj: Object, change: Change) -> Object:
    """Return a copy of the object with the change."""
    result = copy.deepcopy(obj)
    for path, value in change.items():
        *parents, last = path.split("/")
        node: Any = result
        for name in parents:
            node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
        if value is DROP:
            del node[last]
        elif isinstance(node, list):
            node[int(last)] = copy.deepcopy(value)
        else:
            node[last] = copy.deepcopy(value)
    return result


def strategy(group: str, resource: str) -> Strategy:
    """Return the strategy of a built-in resource."""
    return STRATEGIES[group, resource]


def created(strategy: Strategy, obj: Object) -> Object:
    """Return the object as the generic path has it before validation."""
    obj = copy.deepcopy(obj)
    obj.setdefault("metadata", {}).setdefault("name", "web")
    obj["metadata"].setdefault("uid", "u1")
    strategy.default(obj)
    strategy.prepare_for_create(CTX, obj)
    return obj


def faults(strategy: Strategy, obj: Object) -> list[str]:
    """Return the texts of the faults of a new object."""
    return [str(error) for error in strategy.validate(CTX, created(strategy, obj))]


def update_faults(strategy: Strategy, obj: Object, change: Change) -> list[str]:
    """Return the texts of the faults of an update of a stored object."""
    old = created(strategy, obj)
    new = changed(old, change)
    strategy.default(new)
    strategy.prepare_for_update(CTX, new, old)
    return [str(error) for error in strategy.validate_update(CTX, new, old)]


def status_faults(strategy: Strategy, obj: Object, status: Object, old_status: Object | None = None) -> list[str]:
    """Return the texts of the faults of a new status."""
    old = {**created(strategy, obj), "status": old_status or {}}
    new = {**copy.deepcopy(old), "status": status}
    strategy.prepare_for_status_update(CTX, new, old)
    return [str(error) for error in strategy.validate_status_update(CTX, new, old)]


def defaulted(strategy: Strategy, obj: Object) -> Object:
    """Return a copy of the object with its defaults."""
    obj = copy.deepcopy(obj)
    obj.setdefault("metadata", {})
    strategy.default(obj)
    return obj


def check_idempotent(default: Callable[[Object], None], obj: Object) -> None:
    """Assert that defaults applied twice equal those applied once."""
    once = copy.deepcopy(obj)
    default(once)
    twice = copy.deepcopy(once)
    default(twice)
    assert twice == once

"""`set_up_policies`: adds the enforcement of NetworkPolicies to the manager of a node."""

import logging
from collections.abc import Callable
from typing import Any

from sampan.component_base.context import ControllerContext
from sampan.component_base.nftables.rule_thread import RuleThread
from sampan.component_base.resources import NAMESPACES
from sampan.component_base.views import POD_VIEW
from sampan.informer import EventHandlerFuncs, Ref, last_known, wait_for_cache_sync
from sampan.informer.ref import Deletion
from sampan.node.network_policy.enforcer import PolicyEnforcer
from sampan.node.network_policy.pods import facts_of
from sampan.node.network_policy.views import POLICY_POD_VIEW, POLICY_VIEW, without_the_rest
from sampan.operator.manager import Group

_log = logging.getLogger("sampan.node")


def set_up_policies(
    context: ControllerContext,
    node: str,
    *,
    shared: bool,
    report: Callable[[str], None] = lambda problem: None,
    kernel: RuleThread | None = None,
) -> PolicyEnforcer:
    """Return the enforcer of a node, and add it to the manager.

    `shared`: other control loops of the process watch all Pods. If not, it keeps only the fields that it needs.
    """
    informers = context.manager.informers
    pods = context.informer(POD_VIEW) if shared else informers.informer_for(POLICY_POD_VIEW, transform=without_the_rest)
    sources = (informers.informer_for(POLICY_VIEW), informers.metadata_informer_for(NAMESPACES), pods)

    async def synced() -> None:
        await wait_for_cache_sync(*registrations)

    enforcer = PolicyEnforcer(synced, report=report, kernel=kernel)
    model = enforcer.model

    def policy_changed(ref: Ref[Any], exists: bool) -> None:
        enforcer.put_policy(ref.key, ref if exists else None)

    def namespace_changed(ref: Ref[Any], exists: bool) -> None:
        model.changed_namespaces[ref.name] = ref.labels if exists else None
        enforcer.changed()

    def pod_changed(ref: Ref[Any], exists: bool) -> None:
        view = _decoded(POLICY_POD_VIEW, ref) if exists else None
        # The labels of the cache, so that they are in memory once.
        model.changed_pods[ref.uid] = None if view is None else facts_of(view, node, ref.labels)
        enforcer.changed()

    handlers = (policy_changed, namespace_changed, pod_changed)
    registrations = [source.add_handler(_each(handler)) for source, handler in zip(sources, handlers, strict=True)]
    context.manager.add(enforcer, group=Group.OTHERS)
    return enforcer


def _each(changed: Callable[[Ref[Any], bool], None]) -> EventHandlerFuncs[Any]:
    """Return a handler that calls `changed(ref, exists)`."""

    def updated(old: Ref[Any], new: Ref[Any]) -> None:
        if old.uid != new.uid:
            changed(old, False)
        changed(new, True)

    def deleted(obj: Deletion[Any]) -> None:
        changed(last_known(obj), False)

    return EventHandlerFuncs(lambda ref: changed(ref, True), updated, deleted)


def _decoded(view: Any, ref: Ref[Any]) -> Any:
    """Return an object, or None if it is unreadable. An unreadable object must not block other objects."""
    try:
        return view.decode(ref.raw)
    except ValueError as error:
        _log.error("ignoring an unreadable object", extra={"key": ref.key, "error": str(error)})
        return None

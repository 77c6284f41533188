"""Controller of shops: applies what a Shop consists of, prunes the rest, and reports the rollout.

Guarantees: an object without an owner reference to the Shop is never changed and never deleted. All objects of a Shop
have that reference, so the garbage collector deletes them with it, also while the operator does not run.
"""

from copy import deepcopy
from typing import Final

from sampan.client import Conflict, DeleteOptions, Invalid, ListOptions, NotFound
from sampan.operator import Builder, Manager, Request, Result, is_controlled_by, patch_status, set_condition
from sampan.operator import set_controller_reference as set_owner
from sampan.resource import Object, ResourceInfo, meta

from shops.shop.objects import KINDS, LABEL, Rollout, conditions, desired, rollout
from shops.shop.v1 import Shop, ShopStatus

RECHECK_S: Final = 30.0


class NameTaken(Exception):
    """An object of another owner has the name that an object of the Shop needs."""


def set_up(manager: Manager) -> None:
    """Add the controller to the manager."""
    client, events = manager.client, manager.event_recorder("shops")
    shops = client.resource(Shop, namespace="")

    async def reconcile(request: Request) -> Result | None:
        """Make the actual state match the spec. It may run at any time, and again after any failure."""
        try:
            # From the server: an old spec would restart the Pods twice, or prune what is desired again.
            shop = await client.direct.resource(Shop, namespace=request.namespace).get(request.name)
        except NotFound:
            return None
        if shop.metadata.deletion_timestamp:
            return None
        try:
            deployment = await apply(shop)
            await prune(shop)
            await report(shop, rollout(deployment))
        except NameTaken as error:
            await report(shop, Rollout("Degraded", "NameTaken", str(error)))
            return Result(requeue_after_s=RECHECK_S)  # The other object has no owner that the controller watches.
        except Invalid as error:
            await report(shop, Rollout("Degraded", "Invalid", str(error)))
        return None

    async def apply(shop: Shop) -> Object:
        """Apply the objects of a Shop. Return the Deployment. Raises `NameTaken`."""
        for kind, obj in desired(shop).items():
            found = await existing(kind, shop)
            if found is not None and not is_controlled_by(found, shop):
                raise NameTaken(f"{kind.kind} {shop.metadata.name} exists and does not belong to this Shop")
            set_owner(shop, obj)
            # Force repairs drift. An object that is not in the cache is not forced: it may be that of another owner.
            applied = await client.resource(kind).apply(obj, field_manager="shops", force=found is not None)
        return applied

    async def existing(kind: ResourceInfo, shop: Shop) -> Object | None:
        return await client.resource(kind, namespace="").find(Request(shop.metadata.namespace, shop.metadata.name))

    async def prune(shop: Shop) -> None:
        """Delete the objects of a Shop that it no longer wants."""
        needed = desired(shop)
        for kind in KINDS:
            objects = client.resource(kind, namespace=shop.metadata.namespace)
            for each in (await objects.list(ListOptions(label_selector=f"{LABEL}={shop.metadata.name}"))).items:
                if kind not in needed and is_controlled_by(each, shop):
                    try:
                        await objects.delete(meta(each).name, DeleteOptions(uid=meta(each).uid))
                    except (NotFound, Conflict):
                        continue  # It is gone already, or another object has its name.

    async def report(before: Shop, state: Rollout) -> None:
        """Write the conditions, and record an Event for a new state."""
        shop = deepcopy(before)
        status = shop.status = shop.status or ShopStatus()
        status.observed_generation = before.metadata.generation
        new = [each for each in conditions(state, before.metadata.generation) if set_condition(status.conditions, each)]
        await patch_status(shops, before, shop, optimistic_lock=True)
        if any(each.status == "True" for each in new):
            record = events.warning if state.state == "Degraded" else events.normal
            record(shop, state.reason, f"{state.state}: {state.message}")

    builder = Builder(manager).for_(Shop)
    for kind in KINDS:
        builder.owns(kind).writes(kind, "create", "patch", "delete")
    builder.complete(reconcile)

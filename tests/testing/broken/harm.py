"""Operators that end in a state that looks right, but harm their own objects on the way."""

import random
from collections.abc import Callable
from typing import Any, Final

from sampan.client import MergePatch, NotFound
from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.request import Request, Result
from tests.testing.broken.parts import Operator, controller, copied, secret_of


def password_overwritten(*, repaired: bool) -> Operator:
    """Each reconcile draws a new password, so clients with the old one are locked out."""

    async def work(manager: Manager, request: Request) -> None:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        secrets = manager.client.resource(SECRETS)
        if found is None:
            return
        present = await secrets.find(request) if repaired else None
        if present is None:
            await secrets.apply(secret_of(found, password=str(random.getrandbits(64))), force=True)
        else:
            await secrets.patch(request.name, MergePatch({"stringData": found["data"]}))

    return controller(work)


def password_rotated_by_status(*, repaired: bool) -> Operator:
    """The password is drawn again if the note of it is absent, which a crash before the note leaves."""

    async def work(manager: Manager, request: Request) -> None:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        if found is None or "noted" in (found["metadata"].get("annotations") or {}):
            return
        secrets = manager.client.resource(SECRETS)
        if not repaired or await secrets.find(request) is None:
            made = secret_of({**found, "data": {}}, password=str(random.getrandbits(64)))
            await secrets.apply(made, force=True)
        noted: Any = {**found, "metadata": {**found["metadata"], "annotations": {"noted": "true"}}}
        await manager.client.resource(CONFIG_MAPS).update(noted)

    return controller(work)


def _with_colour(found: Any, colour: str) -> Any:
    return {**secret_of(found), "metadata": {**secret_of(found)["metadata"], "labels": {"colour": colour}}}


def fight(*, repaired: bool) -> Operator:
    """Two controllers set one field, each to its value, whenever they look."""

    def set_up(manager: Manager) -> None:
        def painter(name: str, colour: str) -> None:
            async def reconcile(request: Request) -> Result:
                found = await manager.client.resource(CONFIG_MAPS).find(request)
                if found is not None:
                    painted = _with_colour(found, "blue" if repaired else colour)
                    await manager.client.resource(SECRETS).apply(painted, force=True, field_manager=name)
                return Result(requeue_after_s=20)

            Builder(manager).for_(CONFIG_MAPS).named(name).complete(reconcile)

        painter("one", "red")
        painter("two", "blue")

    return set_up


def flip(*, repaired: bool) -> Operator:
    """A field changes to and fro, each time that the operator looks."""

    async def work(manager: Manager, request: Request) -> Result:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        if found is not None:
            present = await manager.client.resource(SECRETS).find(request)
            labels: dict[str, Any] = {} if present is None else present["metadata"].get("labels", {})
            colour = "red" if labels.get("colour") == "blue" and not repaired else "blue"
            await manager.client.resource(SECRETS).apply(_with_colour(found, colour), force=True)
        return Result(requeue_after_s=15)

    return controller(work)


def deletes_its_own(*, repaired: bool) -> Operator:
    """The operator takes what it made for a leftover."""

    async def work(manager: Manager, request: Request) -> None:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        if found is None:
            return
        await copied(manager, request)
        if not repaired:
            await manager.client.resource(SECRETS).delete(request.name)

    return controller(work)


def made_again(*, repaired: bool) -> Operator:
    """The operator replaces what it made, instead of keeping it."""

    async def work(manager: Manager, request: Request) -> Result:
        if not repaired:
            try:
                await manager.client.resource(SECRETS).delete(request.name)
            except NotFound:
                pass
        await copied(manager, request)
        return Result(requeue_after_s=30)

    return controller(work)


def two_with_generated_names(*, repaired: bool) -> Operator:
    """Each look makes another object, because the operator cannot find its own."""

    async def work(manager: Manager, request: Request) -> Result:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        mine = [
            each for each in (await manager.client.resource(SECRETS).list()).items if "generateName" in each["metadata"]
        ]
        if found is not None and (not mine or not repaired):
            made = secret_of({**found, "data": {}})
            made["metadata"]["generateName"] = f"{made['metadata'].pop('name')}-"
            await manager.client.resource(SECRETS).create(made)
        return Result(requeue_after_s=40)

    return controller(work)


def orphan(*, repaired: bool) -> Operator:
    """The owner of the Secret is an object that never existed."""

    async def work(manager: Manager, request: Request) -> None:
        found = await manager.client.resource(CONFIG_MAPS).find(request)
        if found is not None:
            made = secret_of(found)
            if not repaired:
                made["metadata"]["ownerReferences"][0]["uid"] = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
            await manager.client.resource(SECRETS).apply(made, force=True)

    return controller(work)


CASES: Final[dict[str, tuple[Callable[..., Operator], str]]] = {
    "overwrites a password": (password_overwritten, "secrets/default/ada.data.password: "),
    "draws a password again after a crash": (password_rotated_by_status, "secrets/default/ada.data.password: "),
    "two controllers fight": (fight, "secrets/default/ada.metadata.labels.colour: one and two set it in turn"),
    "sets a field to and fro": (flip, "secrets/default/ada.metadata.labels.colour: operator sets it to and fro"),
    "deletes what it made": (deletes_its_own, "secrets/default/ada: the operator deletes what it has made"),
    "makes an object again": (made_again, "secrets/default/ada: the operator deletes what it has made"),
    "makes two equal objects": (two_with_generated_names, "secrets/default/ada-: the operator makes two equal objects"),
    "leaves an orphan": (
        orphan,
        "secrets/default/ada: what the operator has made is garbage: its owner ConfigMap/ada",
    ),
}
"""Harmful operators by name, each with a part of the first line that names the harm."""

"""An operator that replaces the status after slow work, while another program changes the boat."""

import asyncio
from copy import deepcopy

from sampan.client import MergePatch, NotFound, WriteOptions
from sampan.operator import (
    Builder,
    Manager,
    Request,
    main,
)
from tests.symptoms.harbour.boat import Boat, BoatStatus


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats = manager.client.resource(Boat, namespace="")

    async def reconcile(request: Request) -> None:
        try:
            before = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        boat = deepcopy(before)
        await asyncio.sleep(0.5)  # The slow work.
        boat.status = BoatStatus(phase="Moored")
        await boats.in_namespace(request.namespace).update_status(boat)

    async def count_waves() -> None:
        """Set an annotation, as the other program does."""
        number = 0
        while True:
            number += 1
            patch = MergePatch({"metadata": {"annotations": {"waves": str(number)}}})
            await boats.in_namespace("default").patch("junk", patch, WriteOptions(field_manager="waves"))
            await asyncio.sleep(0.2)

    Builder(manager).for_(Boat).complete(reconcile)
    manager.add(count_waves)


if __name__ == "__main__":
    main(set_up, name="boats")

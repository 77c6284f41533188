"""An operator that waits for another system."""

import time
from copy import deepcopy

from sampan.client import NotFound
from sampan.operator import (
    Builder,
    Manager,
    Request,
    main,
    patch_status,
)
from tests.symptoms.harbour.boat import Boat, BoatStatus


def look_up_berth() -> None:
    """Send a request to another system, and wait for its response."""
    time.sleep(0.5)


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats = manager.client.resource(Boat, namespace="")

    async def reconcile(request: Request) -> None:
        try:
            before = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        boat = deepcopy(before)
        look_up_berth()
        boat.status = BoatStatus(phase="Moored", observed_generation=boat.metadata.generation)
        await patch_status(boats, before, boat)

    Builder(manager).for_(Boat).complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boats")

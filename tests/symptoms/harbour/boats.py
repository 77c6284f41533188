"""An operator that reports the phase of a boat."""

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


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats = manager.client.resource(Boat, namespace="")

    async def reconcile(request: Request) -> None:
        try:
            before = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        boat = deepcopy(before)
        boat.status = BoatStatus(phase="Moored")
        await patch_status(boats, before, boat)

    Builder(manager).for_(Boat).complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boats")

"""An operator that moors boats at the pier of their label."""

from copy import deepcopy

from sampan.client import NotFound
from sampan.operator import (
    Builder,
    GenerationChanged,
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
        pier = (boat.metadata.labels or {}).get("pier", "none")
        boat.status = BoatStatus(phase=f"at pier {pier}")
        await patch_status(boats, before, boat)

    predicate = GenerationChanged()
    Builder(manager).for_(Boat, predicates=[predicate]).complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boats")

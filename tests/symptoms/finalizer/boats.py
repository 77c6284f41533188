"""An operator that cleans up behind its boats."""

from sampan.client import NotFound
from sampan.operator import Builder, Finalizing, Manager, Request, Result, finalizer, main
from tests.symptoms.harbour.boat import Boat

FINALIZER = "harbour.example.com/moorings"


def set_up(manager: Manager) -> None:
    """Add the controller of boats."""
    boats = manager.client.resource(Boat, namespace="")

    async def moor(boat: Boat) -> None:
        """Assign moorings."""

    async def clean_up(boat: Boat) -> None:
        """Release the moorings."""

    async def reconcile(request: Request) -> Result | None:
        try:
            boat = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        return await finalizer(boats, boat, FINALIZER, Finalizing(apply=moor, clean_up=clean_up))

    Builder(manager).for_(Boat).complete(reconcile)


if __name__ == "__main__":
    main(set_up, name="boats")

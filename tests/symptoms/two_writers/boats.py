"""Two operators that set the crew of a boat: one to a third of its length, one to at most ten."""

import asyncio

from sampan.client import NotFound
from sampan.operator import Builder, Manager, Request, main
from tests.symptoms.harbour.boat import Boat


def set_up(manager: Manager) -> None:
    """Add both controllers."""
    boats = manager.client.resource(Boat, namespace="")

    async def set_crew(request: Request, crew: int, field_manager: str) -> None:
        await asyncio.sleep(0.2)
        head = {"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": {"name": request.name}}
        fields = {**head, "spec": {"crew": crew}}
        await boats.in_namespace(request.namespace).apply(fields, field_manager=field_manager, force=True)

    async def staff(request: Request) -> None:
        try:
            boat = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        await set_crew(request, boat.spec.length // 3, "staff")

    async def limit(request: Request) -> None:
        try:
            boat = await boats.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return
        await set_crew(request, min(boat.spec.crew, 10), "limit")

    Builder(manager).for_(Boat).named("staff").complete(staff)
    Builder(manager).for_(Boat).named("limit").complete(limit)


if __name__ == "__main__":
    main(set_up, name="boats")

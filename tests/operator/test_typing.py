"""mypy finds misuses of the toolkit: each line below is an error, which `make check` expects.

An ignore that is not needed is an error too (`warn_unused_ignores`). So the check fails if one of them is not found.
"""

from typing import Annotated

import msgspec

from sampan.client import Client
from sampan.operator import Builder, ControllerOptions, Manager, ManagerOptions, Request, Result, set_condition
from sampan.operator.predicates import FieldChanged
from sampan.resource import Column, CustomResource, resource


class BoatSpec(msgspec.Struct, omit_defaults=True):
    length: Annotated[int, msgspec.Meta(gt=0)]


@resource(group="harbour.example.com", version="v1", columns=(Column("Length", ".spec.length", "integer"),))
class Boat(CustomResource):
    spec: BoatSpec


async def _misuses(client: Client, manager: Manager) -> None:
    boats = client.resource(Boat)
    boat = await boats.get("junk")
    boat.spec.lenght = 40  # type: ignore[attr-defined]  # a field that does not exist
    boat.spec.length = "40"  # type: ignore[assignment]  # a value of another type
    Boat(spec={"length": 40})  # type: ignore[arg-type]  # a dict instead of the class
    await boats.get(7)  # type: ignore[arg-type]  # a name that is no text
    await boats.update("junk")  # type: ignore[arg-type]  # a name instead of an object

    async def wrong_result(request: Request) -> int:
        return 60

    async def wrong_argument(boat: Boat) -> Result:
        return Result()

    Builder(manager).for_(Boat).complete(wrong_result)  # type: ignore[arg-type]  # a number instead of a Result
    Builder(manager).for_(Boat).complete(wrong_argument)  # type: ignore[arg-type]  # an object instead of a Request
    Builder(manager).for_(Boat, predicates=[FieldChanged])  # type: ignore[list-item]  # a class instead of an instance
    Builder(manager).watches(Boat, lambda boat: boat.name)  # type: ignore[arg-type, return-value]  # no requests
    ControllerOptions(workers=4)  # type: ignore[call-arg]  # an option that does not exist
    ManagerOptions(resync_s="60")  # type: ignore[arg-type]  # a text instead of seconds
    set_condition([], "Ready", True)  # type: ignore[arg-type]  # not a condition


def test_the_misuses_are_checked_by_mypy() -> None:
    assert callable(_misuses)

"""Invalid objects: a server refuses each one, with exactly the field and the reason that the object names."""

import pytest

from sampan.client import Invalid
from sampan.testing import Cluster
from sampan.testing.generated import invalid_objects
from tests.resource.kinds import Boat
from tests.testing.generated.crds import CRDS

NOT_CHECKED = "<nil>"


@pytest.mark.parametrize("name", CRDS)
async def test_a_server_refuses_each_object_for_its_field_alone(cluster: Cluster, name: str) -> None:
    await cluster.crds(CRDS[name])
    for case in invalid_objects(CRDS[name]):
        with pytest.raises(Invalid) as caught:
            await cluster.create(case.obj)
        causes = {(each["field"], each["reason"]) for each in caught.value.causes if each["field"] != NOT_CHECKED}
        assert causes == {(case.field, case.reason)}, case


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("numbers", "spec.small: more than 5"),
        ("texts", "spec.quantity: does not match the pattern"),
        ("texts", "spec.size: not in the enum"),
        ("lists", "spec.ports[0].name: missing"),
        ("lists", "spec.ports[1]: an item that is there"),
        ("lists", "spec.labels: more than 3 entries"),
        ("open", "spec.percent: neither integer nor string"),
        ("formats", "spec.f25: not a date-time"),
        ("alternatives", "spec.file.path: missing"),
        ("rules", "spec: a needs kind A"),
    ],
)
def test_there_is_an_object_for_each_kind_of_rule(name: str, expected: str) -> None:
    assert expected in [str(each) for each in invalid_objects(CRDS[name])]


def test_there_are_many_and_always_the_same() -> None:
    found = invalid_objects(Boat)
    assert len(found) >= 15
    assert found == invalid_objects(Boat)


def test_a_built_in_kind_has_none() -> None:
    with pytest.raises(TypeError, match="Deployment is built in: its rules are in the server's code"):
        invalid_objects("Deployment")

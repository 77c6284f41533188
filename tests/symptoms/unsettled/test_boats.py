from boats import set_up  # type: ignore[import-not-found]  # it is next to a copy of this file

from sampan.resource import ObjectMeta
from sampan.testing import Cluster, field
from tests.symptoms.harbour.boat import Boat, BoatSpec


async def test_a_boat_is_moored(cluster: Cluster) -> None:
    await cluster.crds(Boat)
    cluster.run(set_up)
    await cluster.apply(Boat(metadata=ObjectMeta(name="junk"), spec=BoatSpec(length=60)))
    await cluster.settled()
    await cluster.eventually("boats/junk", field(".status.phase") == "Moored")

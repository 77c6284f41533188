"""Values that plug-ins keep of other objects."""

from sampan.core.object import Object
from sampan.server.admission.derived_cache import DerivedCache
from tests.server.cluster import Api
from tests.server.verbs.conftest import api

__all__ = ["api"]

NAMESPACES = "/api/v1/namespaces"


class Made:
    """Counts its living instances."""

    there = 0

    def __init__(self, obj: Object) -> None:
        Made.there += 1

    def __del__(self) -> None:
        Made.there -= 1


async def test_deleted_objects_take_no_more_memory_than_existing_ones(api: Api) -> None:
    retained = DerivedCache(api.server.cluster.reader, "", "namespaces", Made)
    for number in range(300):
        name = f"n-{number}"
        await api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        assert retained.get(name) is not None
        namespace = (await api.delete(f"{NAMESPACES}/{name}")).body
        namespace["spec"]["finalizers"] = []
        await api.put(f"{NAMESPACES}/{name}/finalize", namespace)
    assert retained.get("n-299") is None
    assert Made.there <= 64

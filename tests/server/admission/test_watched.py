"""Whether somebody wrote to a resource since it was last looked at."""

from sampan.server.admission.watched import Watched
from tests.server.cluster import served

NAMESPACES = "/api/v1/namespaces"


async def test_a_change_is_seen_at_once_and_once() -> None:
    async with served() as api:
        watched = Watched(api.cluster, ("", "namespaces"), ("", "secrets"))
        assert [watched.has_changed() for _ in range(2)] == [True, False]
        await api.create(NAMESPACES, {"metadata": {"name": "a"}})
        assert [watched.has_changed() for _ in range(2)] == [True, False]
        await api.create(f"{NAMESPACES}/a/configmaps", {"metadata": {"name": "a"}})
        assert not watched.has_changed()

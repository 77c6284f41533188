"""Objects near the limit, and many warnings (A16, A17, E30)."""

from typing import Any

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, config_map

LONG_KEYS: dict[str, str] = {f"{number:04}{'k' * 240}": "" for number in range(3500)}
"""Such keys take as much room in managedFields as in the object: it fits only without them."""


def large() -> Any:
    """A ConfigMap that fits only without managedFields."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": LONG_KEYS}


async def test_managed_fields_are_left_out_where_only_that_makes_an_object_fit(api: Api) -> None:
    created = await api.create(CONFIG_MAPS, large())
    assert (len(created["data"]), "managedFields" in created["metadata"]) == (len(LONG_KEYS), False)
    small = config_map(name="d")
    made = await api.create(CONFIG_MAPS, small)
    assert "managedFields" in made["metadata"]
    response = await api.patch(f"{CONFIG_MAPS}/{small['metadata']['name']}", {"data": LONG_KEYS})
    assert response.code == 200
    assert "managedFields" not in response.metadata


async def test_an_apply_never_drops_managed_fields(api: Api) -> None:
    response = await api.apply(f"{CONFIG_MAPS}/c", large())
    assert (response.code, response.reason) == (413, "RequestEntityTooLarge")
    await api.create(CONFIG_MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    assert (await api.apply(f"{CONFIG_MAPS}/c", large())).code == 413
    assert (await api.get(f"{CONFIG_MAPS}/c")).body["data"] == {"a": "1"}


async def test_many_long_warnings_are_cut_short(api: Api) -> None:
    unknown = {f"{letter * 600}": 1 for letter in "abcdefghij"}
    response = await api.post(f"{CONFIG_MAPS}?fieldValidation=Warn", {"metadata": {"name": "c"}, **unknown})
    assert response.code == 201
    assert [len(text) for text in response.warnings] == [256] * 10
    few = await api.post(
        f"{CONFIG_MAPS}?fieldValidation=Warn", {"metadata": {"name": "d"}, **dict(list(unknown.items())[:6])}
    )
    assert [len(text) for text in few.warnings] == [len(f'unknown field "{"a" * 600}"')] * 6

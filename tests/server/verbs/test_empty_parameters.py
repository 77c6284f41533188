"""Query parameters without a value: they are there. Source: apimachinery pkg/runtime/conversion.go (1.36)."""

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, config_map, some_config_maps


async def test_an_empty_flag_is_true(api: Api) -> None:
    response = await api.get(f"{CONFIG_MAPS}?sendInitialEvents=")
    assert (response.code, response.causes[0]["field"]) == (422, "sendInitialEvents")


async def test_an_empty_force_is_one(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0?force=", {"data": {}}, "merge")
    assert (response.code, response.causes[0]["field"]) == (422, "force")


async def test_an_invalid_continue_token_is_reported_before_the_revision(api: Api) -> None:
    response = await api.get(f"{CONFIG_MAPS}?continue=x&resourceVersion=5")
    assert (response.code, response.message.split(":")[0]) == (400, "invalid continue token")


async def test_a_dry_run_of_a_create_does_not_look_at_the_revision(api: Api) -> None:
    """kubectl create --dry-run=server of what kubectl get has shown."""
    shown = config_map("a")
    shown["metadata"]["resourceVersion"] = "5"
    assert (await api.fetch("POST", f"{CONFIG_MAPS}?dryRun=All", shown)).code == 201
    assert (await api.fetch("POST", CONFIG_MAPS, shown)).code == 500

"""MutatingAdmissionWebhook: order, patches, the second run."""

from typing import Any

import pytest

from tests.server.admission.webhook.hooks import (
    MAPS,
    Hooks,
    adding,
    allowing,
    config_map,
    configure,
    denying,
    hook,
    patched,
)
from tests.server.cluster import Api

KIND = "Mutating"


async def test_a_patch_is_taken_over(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"))
    hooks.responses["a.example.com"] = adding("added", "yes")
    assert (await api.create(MAPS, config_map(data={"own": "1"})))["data"] == {"own": "1", "added": "yes"}


async def test_webhooks_are_called_by_configuration_then_in_order(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("c.example.com"), hook("b.example.com"), name="two")
    await configure(api, KIND, hook("a.example.com"), name="one")
    await api.create(MAPS, config_map())
    assert hooks.names == ["a.example.com", "c.example.com", "b.example.com"]


async def test_each_webhook_sees_what_those_before_have_done(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"), hook("b.example.com"))
    hooks.responses["a.example.com"] = adding("a", "1")
    await api.create(MAPS, config_map())
    assert hooks.requests[1]["object"]["data"] == {"a": "1"}


@pytest.mark.parametrize(
    ("policies", "requested"),
    [
        (("Never", "Never"), "ab"),
        (("IfNeeded", "Never"), "aba"),
        (("Never", "IfNeeded"), "ab"),
        (("IfNeeded", "IfNeeded"), "aba"),
    ],
    ids=lambda value: "-".join(value),
)
async def test_a_client_that_was_called_before_a_change_is_called_again(
    api: Api, hooks: Hooks, policies: tuple[str, str], requested: str
) -> None:
    names = ("a.example.com", "b.example.com")
    await configure(
        api, KIND, *(hook(name, reinvocationPolicy=policy) for name, policy in zip(names, policies, strict=True))
    )
    hooks.responses["b.example.com"] = adding("b", "1")
    await api.create(MAPS, config_map())
    assert "".join(name[0] for name in hooks.names) == requested


async def test_webhooks_that_undo_each_other_end_after_the_second_run(api: Api, hooks: Hooks) -> None:
    names = ("a.example.com", "b.example.com")
    await configure(api, KIND, *(hook(name, reinvocationPolicy="IfNeeded") for name in names))
    hooks.responses = {name: adding("owner", name) for name in names}
    assert (await api.create(MAPS, config_map()))["data"] == {"owner": "b.example.com"}
    assert "".join(name[0] for name in hooks.names) == "abab"


async def test_a_patch_that_changes_nothing_requests_no_client_again(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com", reinvocationPolicy="IfNeeded"), hook("b.example.com"))
    hooks.responses["b.example.com"] = lambda request: patched({"op": "test", "path": "/kind", "value": "ConfigMap"})
    await api.create(MAPS, config_map())
    assert "".join(name[0] for name in hooks.names) == "ab"


async def test_defaults_are_filled_in_after_a_patch(api: Api, hooks: Hooks) -> None:
    pods = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    await configure(api, KIND, hook("a.example.com", rules=[pods]))
    container = {"name": "side", "image": "busybox:1", "ports": [{"containerPort": 80}]}
    hooks.responses["a.example.com"] = lambda request: patched(
        {"op": "add", "path": "/spec/containers/-", "value": container}
    )
    pod = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}
    stored = await api.create("/api/v1/namespaces/default/pods", pod)
    assert stored["spec"]["containers"][1]["imagePullPolicy"] == "IfNotPresent"
    assert stored["spec"]["containers"][1]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


async def test_fields_outside_the_schema_are_dropped(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"))
    hooks.responses["a.example.com"] = lambda request: patched({"op": "add", "path": "/colour", "value": "red"})
    assert "colour" not in await api.create(MAPS, config_map())


async def test_an_update_has_both_objects(api: Api, hooks: Hooks) -> None:
    await api.create(MAPS, config_map(data={"a": "1"}))
    await configure(api, KIND, hook("a.example.com"))
    hooks.responses["a.example.com"] = adding("b", "2")
    response = await api.patch(f"{MAPS}/a", {"data": {"a": "3"}})
    assert response.body["data"] == {"a": "3", "b": "2"}
    request = hooks.requests[0]
    assert (request["operation"], request["object"]["data"], request["oldObject"]["data"]) == (
        "UPDATE",
        {"a": "3"},
        {"a": "1"},
    )


@pytest.mark.parametrize("number", range(2))
async def test_the_object_may_be_renamed_by_no_client(api: Api, hooks: Hooks, number: int) -> None:
    await api.create(MAPS, config_map())
    await configure(api, KIND, hook("a.example.com"))
    path, value = (("/metadata/name", "b"), ("/metadata/namespace", "b"))[number]
    hooks.responses["a.example.com"] = lambda request: patched({"op": "replace", "path": path, "value": value})
    assert (await api.patch(f"{MAPS}/a", {"data": {"a": "3"}})).code in (400, 422)


@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ([{"op": "remove", "path": "/absent"}], "Internal error occurred:"),
        ([{"op": "add", "path": "/data", "value": 5}], "Internal error occurred:"),
        ([{"op": "jump", "path": "/data"}], "Internal error occurred:"),
    ],
    ids=["does not fit", "wrong type", "unknown operation"],
)
async def test_a_bad_patch_is_an_internal_error(api: Api, hooks: Hooks, patch: Any, text: str) -> None:
    await configure(api, KIND, hook("a.example.com", failurePolicy="Ignore"))
    hooks.responses["a.example.com"] = lambda request: patched(*patch)
    response = await api.post(MAPS, config_map())
    assert (response.code, response.reason) == (500, "InternalError")
    assert response.message.startswith(text)


async def test_a_deletion_cannot_be_patched(api: Api, hooks: Hooks) -> None:
    await api.create(MAPS, config_map())
    await configure(api, KIND, hook("a.example.com"))
    hooks.responses["a.example.com"] = lambda request: patched({"op": "add", "path": "/data", "value": {}})
    response = await api.delete(f"{MAPS}/a")
    assert response.message == (
        'Internal error occurred: admission webhook "a.example.com" attempted to modify the object, which is not '
        "supported for this operation"
    )


async def test_the_first_refusal_ends_the_chain(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"), hook("b.example.com"))
    hooks.responses |= {"a.example.com": denying(message="no"), "b.example.com": allowing}
    response = await api.post(MAPS, config_map())
    assert response.message == 'admission webhook "a.example.com" denied the request: no'
    assert hooks.names == ["a.example.com"]

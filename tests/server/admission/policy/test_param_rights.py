"""Authors of policies and bindings must be able to read the parameters."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.server.admission.policy.policies import GROUP, binding, failing, validating
from tests.server.authorization.caches import RBAC, role, rule, user
from tests.server.authorization.caches import binding as role_binding
from tests.server.cluster import Api, served
from tests.server.frame import JANE

POLICIES, BINDINGS = f"{GROUP}/validatingadmissionpolicies", f"{GROUP}/validatingadmissionpolicybindings"
JANE_TEXT = 'user "jane"'
SECRETS = {"apiVersion": "v1", "kind": "Secret"}


def reading(**kind: Any) -> Any:
    return validating(paramKind=kind or SECRETS, validations=[failing("params.data.size() == 0")])


def referring(title: str = "b", **reference: Any) -> Any:
    return binding(title, paramRef={"parameterNotFoundAction": "Allow", **reference})


@asynccontextmanager
async def janes(*more: dict[str, Any]) -> AsyncIterator[tuple[Api, Api]]:
    """The administrator, and jane with the right to write policies and `more`."""
    async with served() as admin:
        writes = rule("*", "admissionregistration.k8s.io", "*")
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("janes", writes, *more))
        await admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", role_binding("janes", "janes", user("jane")))
        yield admin, Api(admin.server, JANE)


async def test_a_policy_with_parameters_that_its_author_may_not_read_is_refused() -> None:
    async with janes() as (_, jane):
        reply = await jane.post(POLICIES, reading())
    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.message == (
        'ValidatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: Forbidden: '
        f'{JANE_TEXT} must have "get" permission on all objects of the referenced paramKind '
        "(kind=Secret, apiVersion=v1)"
    )


@pytest.mark.parametrize("names", [[], ["one"]], ids=["all", "one"])
async def test_the_author_of_a_policy_must_read_all_objects_of_the_kind(names: list[str]) -> None:
    async with janes(rule("get", "core", "secrets", names)) as (_, jane):
        assert (await jane.post(POLICIES, reading())).code == (422 if names else 201)


async def test_parameters_of_an_unknown_kind_need_the_right_to_read_everything() -> None:
    async with janes(rule("get", "core", "secrets")) as (_, jane):
        assert (await jane.post(POLICIES, reading(apiVersion="v1", kind="Unknown"))).code == 422


async def test_a_policy_with_the_parameters_that_it_had_may_change() -> None:
    async with janes() as (admin, jane):
        await admin.create(POLICIES, reading())
        assert (await jane.patch(f"{POLICIES}/p", {"spec": {"failurePolicy": "Ignore"}})).code == 200
        assert (await jane.patch(f"{POLICIES}/p", {"spec": {"paramKind": {"kind": "ConfigMap"}}})).code == 422


async def test_a_binding_to_an_object_that_its_author_may_not_read_is_refused() -> None:
    async with janes(rule("get", "core", "secrets", ["one"])) as (admin, jane):
        await admin.create(POLICIES, reading())
        assert (await jane.post(BINDINGS, referring(name="one"))).code == 201
        reply = await jane.post(BINDINGS, referring("c", name="two"))
    assert reply.code == 422
    assert reply.message.endswith(
        f'spec.paramRef: Forbidden: {JANE_TEXT} does not have "get" permission on the object referenced by paramRef'
    )


@pytest.mark.parametrize(("verbs", "code"), [("get", 422), ("list", 201)])
async def test_a_binding_with_a_selector_needs_the_verb_list(verbs: str, code: int) -> None:
    async with janes(rule(verbs, "core", "secrets")) as (admin, jane):
        await admin.create(POLICIES, reading())
        assert (await jane.post(BINDINGS, referring(selector={}))).code == code


async def test_a_binding_to_a_policy_that_does_not_exist_yet_needs_all_rights() -> None:
    async with janes(rule("get", "core", "secrets")) as (_, jane):
        assert (await jane.post(BINDINGS, referring(name="one"))).code == 422

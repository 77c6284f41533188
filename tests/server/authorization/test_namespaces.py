"""Namespaces in which a user may do something, against a model that decides each namespace by itself."""

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from sampan.server.authorization import namespaces
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Decision, Verdict
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.namespaces import AllowedNamespaces, allowed_namespaces
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RbacIndex
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.request import RequestInfo, UserInfo
from tests.properties import examples
from tests.server.authorization import test_rbac_model as model
from tests.server.authorization.caches import FakeReader

PODS = RequestInfo("", "list", True, "", "v1", "", "pods")
PRESENT = ("east", "north", "west")


class OneNamespace:
    """Authorizer that cannot name its namespaces, as a webhook."""

    def __init__(self, name: str, error: str = "") -> None:
        self.name = name
        self.error = error
        self.decided = 0

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        self.decided += 1
        if info.namespace == self.name:
            return ALLOWED
        return Verdict(Decision.NO_OPINION, error=self.error) if self.error else NO_OPINION


@settings(max_examples=examples(200))
@given(model.policies, model.users, model.requests.filter(lambda info: info.is_resource))
def test_the_review_equals_a_decision_for_each_namespace(
    policy: dict[str, Any], user: UserInfo, info: RequestInfo
) -> None:
    reader = FakeReader()
    model._stored(policy, reader)
    authorizer = UnionAuthorizer([MastersAuthorizer(), RbacAuthorizer(RbacIndex(reader.as_reader()))])
    found = asyncio.run(allowed_namespaces(authorizer, user, info, PRESENT))
    if model._model(policy, user, replace(info, namespace="")):
        assert found == AllowedNamespaces(everywhere=True)
    else:
        allowed = tuple(name for name in PRESENT if model._model(policy, user, replace(info, namespace=name)))
        assert found == AllowedNamespaces(names=allowed)


async def test_a_user_with_all_rights_may_do_it_everywhere() -> None:
    user = UserInfo("admin", groups=("system:masters",))
    assert (await allowed_namespaces(UnionAuthorizer([MastersAuthorizer()]), user, PODS, PRESENT)).everywhere


async def test_an_authorizer_that_names_no_namespaces_decides_each_one() -> None:
    one = OneNamespace("west")
    found = await allowed_namespaces(UnionAuthorizer([MastersAuthorizer(), one]), UserInfo("jane"), PODS, PRESENT)
    assert (found, one.decided) == (AllowedNamespaces(names=("west",)), 4)


async def test_after_an_error_the_result_is_incomplete() -> None:
    found = await allowed_namespaces(OneNamespace("west", "down"), UserInfo("jane"), PODS, PRESENT)
    assert found == AllowedNamespaces(names=("west",), incomplete=True)


async def test_the_number_of_decisions_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr(namespaces, "DECISIONS_MAX", 2)
    one = OneNamespace("west")
    found = await allowed_namespaces(one, UserInfo("jane"), PODS, PRESENT)
    assert (found, one.decided) == (AllowedNamespaces(incomplete=True), 3)

"""RBAC against a model that does the plain thing: look at every binding and every rule of its role."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.rbac.authorizer import RbacAuthorizer
from sampan.server.authorization.rbac.index import RbacIndex
from sampan.server.request import RequestInfo, UserInfo
from tests.properties import examples
from tests.server.authorization.caches import FakeReader, account, binding, group, role, user

VERBS = ("get", "list", "delete")
GROUPS = ("", "apps")
RESOURCES = ("pods", "deployments")
SUBRESOURCES = ("", "scale", "log")
NAMES = ("", "a", "b")
NAMESPACES = ("", "east", "west")
PATHS = ("/", "/healthz", "/healthz/etcd", "/metrics")

words = st.sampled_from
some = st.lists


def _subsets(values: tuple[str, ...], *, empty: bool = False) -> Any:
    return some(words(values), min_size=0 if empty else 1, max_size=2, unique=True)


resource_rules = st.fixed_dictionaries(
    {
        "verbs": _subsets((*VERBS, "*")),
        "apiGroups": _subsets((*GROUPS, "*")),
        "resources": _subsets((*RESOURCES, "*", "pods/log", "*/scale", "deployments/scale", "pods/*")),
        "resourceNames": _subsets(NAMES[1:], empty=True),
    }
)
path_rules = st.fixed_dictionaries(
    {"verbs": _subsets((*VERBS, "*")), "nonResourceURLs": _subsets((*PATHS, "*", "/healthz*", "/healthz/*", "/m**"))}
)
rules = some(st.one_of(resource_rules, path_rules), max_size=3)
subjects = some(
    st.one_of(
        words((user("jane"), user("joe"), user("system:serviceaccount:east:bot"), group("devs"), group("ops"))),
        words((account("bot"), account("bot", "east"), account("bot", "west"))),
    ),
    max_size=2,
)
role_keys = words([("", name) for name in ("r0", "r1")] + [(ns, "r2") for ns in NAMESPACES[1:]])
policies = st.fixed_dictionaries(
    {
        "roles": st.dictionaries(role_keys, rules, max_size=4),
        "bindings": some(
            st.tuples(words(NAMESPACES), words(("Role", "ClusterRole")), words(("r0", "r1", "r2")), subjects),
            max_size=5,
        ),
    }
)
users = words(
    (
        UserInfo("jane", groups=("devs",)),
        UserInfo("joe", groups=("devs", "ops")),
        UserInfo("system:serviceaccount:east:bot", groups=("system:serviceaccounts",)),
        UserInfo("nobody"),
    )
)
requests = st.one_of(
    st.builds(
        lambda verb, group_, resource, sub, ns, name: RequestInfo(
            "", verb, True, group_, "v1", ns, resource, sub, name
        ),
        words(VERBS),
        words(GROUPS),
        words(RESOURCES),
        words(SUBRESOURCES),
        words(NAMESPACES),
        words(NAMES),
    ),
    st.builds(RequestInfo, words(PATHS), words(VERBS)),
)


def _allows(rule: dict[str, Any], info: RequestInfo) -> bool:
    def has(field: str, *values: str) -> bool:
        return any(value in rule.get(field, ()) for value in values)

    if not has("verbs", info.verb, "*"):
        return False
    if not info.is_resource:
        urls = rule.get("nonResourceURLs", ())
        return any(url == info.path or (url[-1] == "*" and info.path.startswith(url.rstrip("*"))) for url in urls)
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    any_kind = f"*/{info.subresource}" if info.subresource else resource
    names = rule.get("resourceNames")
    return (
        has("apiGroups", info.group, "*")
        and has("resources", resource, any_kind, "*")
        and (not names or info.name in names)
    )


def _is_for(subject: dict[str, Any], user: UserInfo, namespace: str) -> bool:
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    if subject["kind"] == "User":
        return bool(subject["name"] == user.name)
    namespace = subject.get("namespace") or namespace
    return bool(namespace) and user.name == f"system:serviceaccount:{namespace}:{subject['name']}"


def _model(policy: dict[str, Any], user: UserInfo, info: RequestInfo) -> bool:
    for namespace, kind, ref, bound in policy["bindings"]:
        if namespace and (not info.is_resource or namespace != info.namespace):
            continue
        found = policy["roles"].get((namespace if kind == "Role" else "", ref), ())
        if kind == "Role" and not namespace:
            found = ()
        if any(_is_for(each, user, namespace) for each in bound) and any(_allows(each, info) for each in found):
            return True
    return False


def _stored(policy: dict[str, Any], reader: FakeReader) -> None:
    for cache in reader.caches.values():
        cache.records.clear()
        cache.changed += 1
    for (namespace, name), given_rules in policy["roles"].items():
        reader.put("roles" if namespace else "clusterroles", role(name, *given_rules, namespace=namespace))
    for number, (namespace, kind, ref, bound) in enumerate(policy["bindings"]):
        resource = "rolebindings" if namespace else "clusterrolebindings"
        reader.put(resource, binding(f"b{number}", ref, *bound, namespace=namespace, kind=kind))


@settings(max_examples=examples(150))
@given(some(policies, min_size=1, max_size=2), some(st.tuples(users, requests), min_size=1, max_size=12))
def test_rbac_decides_as_the_model_also_after_everything_has_changed(
    history: list[dict[str, Any]], requested: list[tuple[UserInfo, RequestInfo]]
) -> None:
    reader = FakeReader()
    authorizer = RbacAuthorizer(RbacIndex(reader.as_reader()))

    async def check() -> None:
        for policy in history:
            _stored(policy, reader)
            for requester, info in requested:
                verdict = await authorizer.authorize(requester, info)
                assert (verdict.decision is Decision.ALLOW) is _model(policy, requester, info), (
                    policy,
                    requester,
                    info,
                )

    asyncio.run(check())


@settings(max_examples=examples(100))
@given(policies, users, requests)
def test_listed_rules_equal_allowed_requests(policy: dict[str, Any], requester: UserInfo, info: RequestInfo) -> None:
    reader = FakeReader()
    authorizer = RbacAuthorizer(RbacIndex(reader.as_reader()))
    _stored(policy, reader)
    listed = authorizer.rules_for(requester, info.namespace).rules
    if info.is_resource or not info.namespace:
        assert any(_allows(dict(each), info) for each in listed) is _model(policy, requester, info)

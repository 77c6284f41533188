"""`AbacAuthorizer`: allows what a line of its policy file allows, has no opinion on the rest.

A line is a Policy as JSON; lines that are empty or begin with # say nothing. Policies of today have a version, a kind
and a `spec`; those of old have neither, and leave out what they do not limit.
Source: kubernetes pkg/auth/authorizer/abac/abac.go, pkg/apis/abac (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from sampan.core.policy_rules import Rule
from sampan.server.authentication.authenticator import AUTHENTICATED
from sampan.server.authorization.authorizer import ALLOWED, Decision, RulesFound, Verdict
from sampan.server.request import RequestInfo, UserInfo

_GROUP: Final = "abac.authorization.kubernetes.io"
_KIND: Final = "Policy"
_READING: Final = ("get", "list", "watch")
_NO_POLICY: Final = Verdict(Decision.NO_OPINION, "No policy matched.")


class Policy(msgspec.Struct, frozen=True, rename="camel"):
    """Who may do what. A user or a group must be named; `*` of all else means all of them."""

    user: str = ""
    group: str = ""
    readonly: bool = False
    api_group: str = ""
    resource: str = ""
    namespace: str = ""
    non_resource_path: str = ""

    def is_for(self, user: UserInfo) -> bool:
        """Whether all that it says of the subject holds."""
        if self.user and self.user != user.name:
            return False
        return self.group in user.groups if self.group else bool(self.user)

    def allows(self, info: RequestInfo) -> bool:
        """Whether the request is among those that it speaks of."""
        if self.readonly and info.verb not in _READING:
            return False
        if info.is_resource:
            asked = ((self.namespace, info.namespace), (self.resource, info.resource), (self.api_group, info.group))
            return all(said in ("*", wanted) for said, wanted in asked)
        path = self.non_resource_path
        return path in ("*", info.path) or (path.endswith("*") and info.path.startswith(path.rstrip("*")))

    def rules(self) -> Iterable[Rule]:
        """The same as rules of roles."""
        verbs = list(_READING) if self.readonly else ["*"]
        if self.resource:
            yield {"verbs": verbs, "apiGroups": [self.api_group], "resources": [self.resource]}
        if self.non_resource_path:
            yield {"verbs": verbs, "nonResourceURLs": [self.non_resource_path]}


class AbacAuthorizer:
    """See the module."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.title = ("ABAC", "abac")
        self._policies = tuple(policies)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        allowed = any(policy.is_for(user) and policy.allows(info) for policy in self._policies)
        return ALLOWED if allowed else _NO_POLICY

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """See `RuleResolver`."""
        found = [policy for policy in self._policies if policy.is_for(user) and policy.namespace in ("*", namespace)]
        return RulesFound(tuple(rule for policy in found for rule in policy.rules()))


def parse_policies(text: str, name: str) -> list[Policy]:
    """The policies of a file. Raises `ValueError` with its `name`, and the line that cannot be read."""
    policies = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            policies.append(_policy(msgspec.json.decode(line)))
        except (msgspec.DecodeError, ValueError) as error:
            raise ValueError(f"error reading policy file {name}, line {number}: {line}: {error}") from None
    return policies


def _policy(value: Any) -> Policy:
    if not isinstance(value, dict):
        raise ValueError("no object")
    version, kind = value.get("apiVersion"), value.get("kind")
    if version == f"{_GROUP}/v1beta1" and kind == _KIND:
        said = msgspec.convert(value.get("spec") or {}, Policy)
        return _for_all(said) if "*" in (said.user, said.group) else said
    if (version or f"{_GROUP}/v0", kind or _KIND) != (f"{_GROUP}/v0", _KIND):
        raise ValueError(f'no kind "{kind}" is registered for version "{version}"')
    return _of_old(msgspec.convert(value, Policy))


def _of_old(said: Policy) -> Policy:
    """What a policy of old means."""
    everywhere = "" if said.namespace or said.resource else "*"
    policy = msgspec.structs.replace(
        said,
        api_group="*",
        namespace=said.namespace or "*",
        resource=said.resource or "*",
        non_resource_path=everywhere,
    )
    return _for_all(policy) if "*" in (said.user, said.group) or not (said.user or said.group) else policy


def _for_all(policy: Policy) -> Policy:
    return msgspec.structs.replace(policy, user="", group=AUTHENTICATED)

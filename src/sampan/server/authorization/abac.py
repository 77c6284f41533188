"""`AbacAuthorizer`: allows requests that match a line of its policy file, and has no opinion on other requests.

Each line is a Policy as JSON. Empty lines and lines that begin with # are ignored. A v1beta1 policy has a version, a
kind and a `spec`. A v0 policy has none of them, and a missing field matches everything.
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


class AbacPolicy(msgspec.Struct, frozen=True, rename="camel"):
    """Subject and the requests that it may send. A user or a group is required. `*` in any other field matches
    everything.
    """

    user: str = ""
    group: str = ""
    readonly: bool = False
    api_group: str = ""
    resource: str = ""
    namespace: str = ""
    non_resource_path: str = ""

    def is_for(self, user: UserInfo) -> bool:
        """Return True if the policy applies to the user."""
        if self.user and self.user != user.name:
            return False
        return self.group in user.groups if self.group else bool(self.user)

    def allows(self, info: RequestInfo) -> bool:
        """Return True if the policy allows the request."""
        if self.readonly and info.verb not in _READING:
            return False
        if info.is_resource:
            fields = ((self.namespace, info.namespace), (self.resource, info.resource), (self.api_group, info.group))
            return all(allowed in ("*", desired) for allowed, desired in fields)
        path = self.non_resource_path
        return path in ("*", info.path) or (path.endswith("*") and info.path.startswith(path.rstrip("*")))

    def rules(self) -> Iterable[Rule]:
        """Yield the policy as rules of RBAC roles."""
        verbs = list(_READING) if self.readonly else ["*"]
        if self.resource:
            yield {"verbs": verbs, "apiGroups": [self.api_group], "resources": [self.resource]}
        if self.non_resource_path:
            yield {"verbs": verbs, "nonResourceURLs": [self.non_resource_path]}


class AbacAuthorizer:
    """Authorizes by a list of policies."""

    def __init__(self, policies: Iterable[AbacPolicy]) -> None:
        self.title = ("ABAC", "abac")
        self._policies = tuple(policies)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        allowed = any(policy.is_for(user) and policy.allows(info) for policy in self._policies)
        return ALLOWED if allowed else _NO_POLICY

    def rules_for(self, user: UserInfo, namespace: str) -> RulesFound:
        """Return the user's rules in a namespace, including those for the whole cluster."""
        found = [policy for policy in self._policies if policy.is_for(user) and policy.namespace in ("*", namespace)]
        return RulesFound(tuple(rule for policy in found for rule in policy.rules()))


def parse_policies(text: str, name: str) -> list[AbacPolicy]:
    """Parse the policies of a file. Raises `ValueError` with `name` and the invalid line."""
    policies = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            policies.append(_policy(msgspec.json.decode(line)))
        except (msgspec.DecodeError, ValueError) as error:
            raise ValueError(f"error reading policy file {name}, line {number}: {line}: {error}") from None
    return policies


def _policy(value: Any) -> AbacPolicy:
    if not isinstance(value, dict):
        raise ValueError("the line must be a JSON object")
    version, kind = value.get("apiVersion"), value.get("kind")
    if version == f"{_GROUP}/v1beta1" and kind == _KIND:
        policy = msgspec.convert(value.get("spec") or {}, AbacPolicy)
        return _for_all(policy) if "*" in (policy.user, policy.group) else policy
    if (version or f"{_GROUP}/v0", kind or _KIND) != (f"{_GROUP}/v0", _KIND):
        raise ValueError(f'no kind "{kind}" is registered for version "{version}"')
    return _from_v0(msgspec.convert(value, AbacPolicy))


def _from_v0(policy: AbacPolicy) -> AbacPolicy:
    """Convert a v0 policy."""
    everywhere = "" if policy.namespace or policy.resource else "*"
    policy = msgspec.structs.replace(
        policy,
        api_group="*",
        namespace=policy.namespace or "*",
        resource=policy.resource or "*",
        non_resource_path=everywhere,
    )
    return _for_all(policy) if "*" in (policy.user, policy.group) or not (policy.user or policy.group) else policy


def _for_all(policy: AbacPolicy) -> AbacPolicy:
    return msgspec.structs.replace(policy, user="", group=AUTHENTICATED)

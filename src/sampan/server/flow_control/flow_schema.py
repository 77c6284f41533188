"""`CompiledFlowSchema`: a FlowSchema, compiled for matching.

Source: apiserver pkg/util/flowcontrol/rule.go (1.36).
"""

from collections.abc import Sequence
from typing import Any, Final

from sampan.core.object import Object
from sampan.server.request import RequestInfo, UserInfo

_ACCOUNT: Final = "system:serviceaccount:"


class CompiledFlowSchema:
    """Matches requests, and returns the distinguisher of their flow."""

    def __init__(self, obj: Object) -> None:
        metadata, spec = obj["metadata"], obj.get("spec") or {}
        self.name: str = metadata["name"]
        self.uid: str = metadata.get("uid", "")
        self.level: str = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
        self.precedence: int = spec.get("matchingPrecedence", 0)
        self.distinguisher: str = (spec.get("distinguisherMethod") or {}).get("type", "")
        self._rules: list[Object] = spec.get("rules") or []

    @property
    def order(self) -> tuple[int, str]:
        """Sort key: schemas are tried in ascending order."""
        return self.precedence, self.name

    def matches(self, user: UserInfo, info: RequestInfo) -> bool:
        """Return True if a rule matches the request of this user."""
        return any(_matches(rule, user, info) for rule in self._rules)

    def flow_of(self, user: UserInfo, info: RequestInfo) -> str:
        """Return the distinguisher. Requests with the same distinguisher belong to the same flow."""
        if self.distinguisher == "ByUser":
            return user.name
        return info.namespace if self.distinguisher == "ByNamespace" else ""


def _matches(rule: Object, user: UserInfo, info: RequestInfo) -> bool:
    if not any(_is_subject(subject, user) for subject in rule.get("subjects") or ()):
        return False
    if info.is_resource:
        return any(_is_resource(each, info) for each in rule.get("resourceRules") or ())
    return any(_is_path(each, info) for each in rule.get("nonResourceRules") or ())


def _is_subject(subject: Object, user: UserInfo) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return (subject.get("user") or {}).get("name") in ("*", user.name)
    if kind == "Group":
        group = (subject.get("group") or {}).get("name")
        return group == "*" or group in user.groups
    account: dict[str, Any] = subject.get("serviceAccount") or {}
    prefix, name = f"{_ACCOUNT}{account.get('namespace', '')}:", account.get("name")
    if kind != "ServiceAccount" or not user.name.startswith(prefix):
        return False
    return name == "*" or user.name == f"{prefix}{name}"


def _is_resource(rule: Object, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    if not (
        _holds(rule.get("verbs"), info.verb)
        and _holds(rule.get("resources"), resource)
        and _holds(rule.get("apiGroups"), info.group)
    ):
        return False
    if not info.namespace:
        return bool(rule.get("clusterScope"))
    return _holds(rule.get("namespaces"), info.namespace)


def _is_path(rule: Object, info: RequestInfo) -> bool:
    return _holds(rule.get("verbs"), info.verb) and any(
        _covers(url, info.path) for url in rule.get("nonResourceURLs") or ()
    )


def _covers(url: str, path: str) -> bool:
    """Return True if a URL of a rule covers the path. It also covers all paths below it."""
    prefix = url.removesuffix("*")
    return url in ("*", path) or path.startswith(prefix if prefix.endswith("/") else f"{prefix}/")


def _holds(names: Sequence[str] | None, name: str) -> bool:
    return bool(names) and (names == ["*"] or name in (names or ()))

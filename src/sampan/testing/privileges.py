"""Least privilege: the rights that an operator uses, needs but does not have, or has but does not use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sampan.testing.requests import RequestRecord, Requests

Right = tuple[str, str, str]
"""API group, resource with its subresource, verb."""
_FORBIDDEN = 403


@dataclass(frozen=True, slots=True)
class Privileges:
    """Rights of one actor, from its requests."""

    used: frozenset[Right]
    refused: frozenset[Right]
    """Rights that it needed and did not have."""

    def role(self, name: str) -> dict[str, Any]:
        """Return the ClusterRole with exactly the needed rights."""
        verbs: dict[tuple[str, str], list[str]] = {}
        for group, resource, verb in sorted(self.used | self.refused):
            verbs.setdefault((group, resource), []).append(verb)
        rules = [
            {"apiGroups": [group], "resources": [resource], "verbs": granted}
            for (group, resource), granted in verbs.items()
        ]
        return {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        }

    def unused(self, role: Mapping[str, Any]) -> list[str]:
        """Return the rights of a role (`get configmaps`) that the actor did not use. A `*` is never reported."""
        granted = {
            (group, resource, verb)
            for rule in role.get("rules") or ()
            for group in rule.get("apiGroups") or ()
            for resource in rule.get("resources") or ()
            for verb in rule.get("verbs") or ()
        }
        return [_words(right) for right in sorted(granted - self.used) if "*" not in right]

    def __str__(self) -> str:
        lines = [f"used: {_words(right)}" for right in sorted(self.used)]
        return "\n".join([*lines, *(f"refused: {_words(right)}" for right in sorted(self.refused))])


def privileges_of(requests: Requests) -> Privileges:
    """Return the rights that requests of one actor need. Discovery needs no rights.

    A watch needs `list` too: informers list on a server without streaming lists.
    """
    refused = _rights(each for each in requests if each.code == _FORBIDDEN)
    return Privileges(_rights(each for each in requests if each.code != _FORBIDDEN) - refused, refused)


def _rights(requests: Iterable[RequestRecord]) -> frozenset[Right]:
    return frozenset(
        (each.group, f"{each.resource}/{each.subresource}".rstrip("/"), verb)
        for each in requests
        if not each.resource.startswith("/")
        for verb in (("list", "watch") if each.verb == "watch" else (each.verb,))
    )


def _words(right: Right) -> str:
    group, resource, verb = right
    return f"{verb} {resource}{'.' + group if group else ''}"

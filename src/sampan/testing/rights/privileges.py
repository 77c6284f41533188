"""Least privilege: the rights that an operator uses, needs but does not have, or has but does not use.

A run shows the rights that the server checked, and some rights depend on its length or on luck: a lease is renewed only
after some seconds, and a lost watch is followed by a list. The latter are `implied`:

| used | implied |
|---|---|
| `watch` | `list`, for a server without streaming lists and after a lost watch |
| `watch` and a write of the same resource | `get`: after a refused write, the object is read from the server |
| `create` or `update` of Leases | `get`, `create` and `update`: a lease is acquired and renewed |
| `create` of Events | `patch`: a repeated Event is counted |
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.testing.checked_rights import Checked
from sampan.testing.requests import WRITES, RequestRecord, Requests

Right = tuple[str, str, str]
"""API group, resource with its subresource, verb. For other paths: "", the path, verb."""
Places = Mapping[Right, frozenset[str]]
"""Namespaces in which each right was used. "" is a right for the whole cluster."""

_API: Final = "rbac.authorization.k8s.io/v1"
_FORBIDDEN: Final = 403
_CREATED: Final = 201
_NAMED: Final = ("approve", "bind", "escalate", "impersonate", "sign")
"""Verbs whose rights a role limits to the used names, because without names they give nearly all rights."""
_QUESTIONS: Final = ("subjectaccessreviews", "localsubjectaccessreviews")
"""Resources of questions about the rights of other users."""
_PUBLIC: Final = ("/api", "/apis", "/healthz", "/livez", "/openapi", "/readyz", "/version")
"""Paths, and beginnings of paths, that each user may read. Source: the ClusterRole system:discovery (1.36)."""


@dataclass(frozen=True, slots=True)
class Privileges:
    """Rights of one actor, from its requests."""

    used: frozenset[Right]
    refused: frozenset[Right]
    """Rights that it needed and did not have."""
    places: Places = field(default_factory=dict)
    names: Places = field(default_factory=dict)
    """Names of objects for rights such as `impersonate`."""

    @property
    def implied(self) -> frozenset[Right]:
        """Rights that belong to the used ones, although no request needed them."""
        found = self.used | self.refused
        return frozenset(right for right, _ in _implied(found)) - found

    @property
    def needed(self) -> frozenset[Right]:
        """All rights of the role."""
        return self.used | self.refused | self.implied

    def role(self, name: str) -> dict[str, Any]:
        """Return the ClusterRole with exactly the needed rights."""
        return _role("ClusterRole", {"name": name}, self._rules(self.needed))

    def roles(self, name: str, namespaces: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return the ClusterRole, and a Role with the rights that were used only in one of these namespaces."""
        within = {right: self._namespace_of(right, namespaces) for right in self.needed}
        found = [_role("ClusterRole", {"name": name}, self._rules(right for right in within if not within[right]))]
        for each in namespaces:
            rules = self._rules(right for right in within if within[right] == each)
            found.append(_role("Role", {"name": name, "namespace": each}, rules))
        return [each for each in found if each["rules"]]

    def unused(self, role: Mapping[str, Any]) -> list[str]:
        """Return the rights of a role (`get configmaps`) that the actor did not use. A `*` is never reported."""
        return [words(right) for right in sorted(rights_in(role) - self.used - self.implied) if "*" not in right]

    def joined(self, other: "Privileges") -> "Privileges":
        """Return the rights of both."""
        return Privileges(
            self.used | other.used,
            (self.refused | other.refused) - self.used - other.used,
            _union(self.places, other.places),
            _union(self.names, other.names),
        )

    def __str__(self) -> str:
        parts = {"used": self.used, "refused": self.refused, "implied": self.implied}
        return "\n".join(f"{part}: {words(right)}" for part, rights in parts.items() for right in sorted(rights))

    def _rules(self, rights: Iterable[Right]) -> list[dict[str, Any]]:
        rules: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
        for right in sorted(rights):
            names = self.names.get(right, frozenset()) if right[2] in _NAMED else frozenset()
            key = (right[0], right[1], () if "" in names else tuple(sorted(names)))
            rules.setdefault(key, []).append(right[2])
        return [_rule(*key, verbs) for key, verbs in rules.items()]

    def _namespace_of(self, right: Right, namespaces: Sequence[str]) -> str:
        """Return the namespace of the Role that has a right; "" for the ClusterRole."""
        places = set(self.places.get(right, ()))
        if right not in self.used | self.refused:
            places = {
                each for found, source in _implied(self.needed) if found == right for each in self._places(source)
            }
        only = next(iter(places)) if len(places) == 1 else ""
        return only if only in namespaces else ""

    def _places(self, right: Right) -> frozenset[str]:
        return self.places.get(right, frozenset({""}))


def privileges_of(requests: Requests) -> Privileges:
    """Return the rights that requests of one actor need. Discovery needs no rights."""
    used: set[Right] = set()
    refused: set[Right] = set()
    places: dict[Right, frozenset[str]] = {}
    names: dict[Right, frozenset[str]] = {}
    for each in requests:
        for checked in _checked(each):
            right = (checked.group, checked.resource, checked.verb)
            (used if checked.is_allowed else refused).add(right)
            # The path of a Namespace has its name as the namespace, but namespaces belong to the cluster.
            place = "" if checked.resource.partition("/")[0] == "namespaces" else checked.namespace
            places[right] = places.get(right, frozenset()) | {place}
            names[right] = names.get(right, frozenset()) | {checked.name}
    return Privileges(frozenset(used), frozenset(refused - used), places, names)


def rights_in(role: Mapping[str, Any]) -> set[Right]:
    """Return the rights of a Role or a ClusterRole."""
    rules = role.get("rules") or ()
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule.get("apiGroups") or ()
        for resource in rule.get("resources") or ()
        for verb in rule.get("verbs") or ()
    } | {
        ("", url, verb)
        for rule in rules
        for url in rule.get("nonResourceURLs") or ()
        for verb in rule.get("verbs") or ()
    }


def words(right: Right) -> str:
    """Return a right as text: `get networks.samplecrd.k8s.io`."""
    group, resource, verb = right
    resource, slash, subresource = ("", "", resource) if resource.startswith("/") else resource.partition("/")
    return f"{verb} {resource}{'.' + group if group else ''}{slash}{subresource}"


def _checked(request: RequestRecord) -> Iterator[Checked]:
    """Yield the rights of a request that are needed or were missing."""
    is_refused = request.code == _FORBIDDEN
    denied = [each for each in request.checked if not each.is_allowed]
    allowed = [each for each in request.checked if each.is_allowed]
    as_another = next((each.user for each in request.checked if each.verb == "impersonate"), None)
    if as_another is not None:
        yield from (each for each in request.checked if each.user == as_another and (each.is_allowed or is_refused))
        return
    path = f"{request.resource}/{request.subresource}".rstrip("/") or "/"
    if path.startswith("/") and path.startswith(_PUBLIC):
        return
    main = Checked("", request.group, path, request.verb, request.namespace, request.name, is_allowed=True)
    is_main_denied = is_refused and (not request.checked or (bool(denied) and _right(denied[-1]) == _right(main)))
    yield main._replace(is_allowed=not is_main_denied)
    if request.resource in _QUESTIONS:
        return
    yield from (each for each in allowed if _right(each) != _right(main))
    if is_refused and denied and not is_main_denied:
        yield denied[-1]  # The rest were alternatives.
    if request.code == _CREATED and request.verb in ("update", "patch"):
        yield main._replace(verb="create")


def _right(checked: Checked) -> Right:
    return (checked.group, checked.resource, checked.verb)


def _implied(rights: Iterable[Right]) -> Iterator[tuple[Right, Right]]:
    """Yield each implied right, such as list for watch, with the right that implies it."""
    found = set(rights)
    for right in sorted(found):
        group, resource, verb = right
        if verb == "watch":
            yield (group, resource, "list"), right
        if verb in WRITES and (group, resource.partition("/")[0], "watch") in found:
            yield (group, resource.partition("/")[0], "get"), right
        if (group, resource) == ("coordination.k8s.io", "leases") and verb in ("create", "update"):
            yield from (((group, resource, each), right) for each in ("get", "create", "update"))
        if resource == "events" and group in ("", "events.k8s.io") and verb == "create":
            yield (group, resource, "patch"), right


def _rule(group: str, resource: str, names: Sequence[str], verbs: list[str]) -> dict[str, Any]:
    if resource.startswith("/"):
        return {"nonResourceURLs": [resource], "verbs": verbs}
    limit = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": [resource], **limit, "verbs": verbs}


def _role(kind: str, metadata: dict[str, Any], rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": _API, "kind": kind, "metadata": metadata, "rules": rules}


def _union(one: Places, other: Places) -> Places:
    return {key: one.get(key, frozenset()) | other.get(key, frozenset()) for key in {*one, *other}}

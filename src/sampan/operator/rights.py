"""`Right`: a verb on a resource that a part of an operator needs. Roles and checks before the start are made of them.

A part of a manager declares its rights with a method `rights()`. Writes of a reconciler are declared with
`Builder.writes`, or with `Manager.declare_writes`.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sampan.resource import ResourceInfo

READS: Final = ("get", "list", "watch")
WRITES: Final = ("create", "delete", "deletecollection", "patch", "update")


class Right(NamedTuple):
    """Verb on a resource."""

    verb: str
    group: str
    resource: str
    """Resource, or resource/subresource."""
    namespace: str | None
    """Namespace; "" for all, None for a resource without namespaces."""
    name: str = ""
    """Name of the only object; "" for all objects."""

    @property
    def what(self) -> str:
        """Resource and namespace, as messages name them."""
        resource, slash, subresource = self.resource.partition("/")
        name = f"{resource}.{self.group}" if self.group else resource
        name += f"{slash}{subresource}" + (f" {self.name}" if self.name else "")
        if self.namespace is None:
            return name
        return f"{name} in {f'namespace {self.namespace}' if self.namespace else 'all namespaces'}"

    @property
    def attributes(self) -> dict[str, str]:
        """`resourceAttributes` of an access review."""
        resource, _, subresource = self.resource.partition("/")
        fields = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": self.namespace or "",
            "name": self.name,
        }
        return {key: value for key, value in fields.items() if value}


def rights_on(
    info: ResourceInfo,
    verbs: Iterable[str],
    namespaces: Sequence[str] = ("",),
    *,
    name: str = "",
    subresource: str = "",
) -> list[Right]:
    """Return the rights with these verbs. `namespaces` do not matter for a resource without namespaces."""
    resource = f"{info.gvr.resource}/{subresource}" if subresource else info.gvr.resource
    places: Sequence[str | None] = namespaces if info.namespaced else (None,)
    return [Right(verb, info.gvr.group, resource, place, name) for place in places for verb in verbs]


def check_writes(verbs: Iterable[str]) -> None:
    """Raise `ValueError` for a verb that does not write."""
    for verb in verbs:
        if verb not in WRITES:
            raise ValueError(f"{verb!r} is no verb that writes; there are {', '.join(WRITES)}")


def check_reads(verbs: Iterable[str]) -> None:
    """Raise `ValueError` for a verb that does not read."""
    for verb in verbs:
        if verb not in READS:
            raise ValueError(f"{verb!r} is no verb that reads; there are {', '.join(READS)}")


def with_reads_of_writes(rights: Iterable[Right]) -> list[Right]:
    """Return the rights, each once, with `get` of the watched resources that are also written.

    After a refused write, and for a subresource, the object is read from the server.
    """
    found = dict.fromkeys(rights)
    written = {(each.group, each.resource.partition("/")[0], each.namespace) for each in found if each.verb in WRITES}
    reads = [
        each._replace(verb="get")
        for each in found
        if each.verb == "watch" and not each.name and (each.group, each.resource, each.namespace) in written
    ]
    return list(dict.fromkeys([*found, *reads]))


def rules_of(rights: Iterable[Right]) -> list[dict[str, list[str]]]:
    """Return RBAC rules with exactly these rights, sorted. Namespaces are left out: they decide the role."""
    verbs: dict[tuple[str, str, str], set[str]] = {}
    for right in rights:
        verbs.setdefault((right.group, right.resource, right.name), set()).add(right.verb)
    return [
        {
            "apiGroups": [group],
            "resources": [resource],
            **({"resourceNames": [name]} if name else {}),
            "verbs": sorted(verbs[group, resource, name]),
        }
        for group, resource, name in sorted(verbs)
    ]

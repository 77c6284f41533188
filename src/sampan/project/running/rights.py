"""The role of an operator from what it declares, and the rule that a refused request lacks."""

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from sampan.client.transport import Headers, HttpRequest, HttpResponse, Transport
from sampan.core.gvk import GroupVersionResource
from sampan.operator import Manager
from sampan.operator.rights import Right, rights_on, with_reads_of_writes
from sampan.operator.rights import rules_of as role_rules
from sampan.resource import Object, ResourceInfo
from sampan.resource.declare import declaration

_RBAC: Final = "rbac.authorization.k8s.io"
ROLES: Final = ResourceInfo(GroupVersionResource(_RBAC, "v1", "clusterroles"), "ClusterRole", False)
BINDINGS: Final = ResourceInfo(GroupVersionResource(_RBAC, "v1", "clusterrolebindings"), "ClusterRoleBinding", False)
NAMESPACE: Final = "default"
_FORBIDDEN: Final = 403
_CANNOT: Final = re.compile(r'cannot (\w+) resource "([^"]+)" in API group "([^"]*)"')


def rights_of(manager: Manager, kinds: Iterable[type[Any]]) -> list[Right]:
    """Return declared rights of an operator, and `patch` of the status of those `kinds` that it watches."""
    found = manager.rights()
    watched = {(right.group, right.resource): right.namespace for right in found if right.verb == "watch"}
    for cls in kinds:
        declared = declaration(cls)
        gvr = declared.info.gvr
        if declared.status and (gvr.group, gvr.resource) in watched:
            found += rights_on(declared.info, ("patch",), manager.places_of(declared.info), subresource="status")
    return with_reads_of_writes(found)


def rules_of(manager: Manager, kinds: Iterable[type[Any]], more: Sequence[Mapping[str, Any]]) -> list[Object]:
    """Return the rules that an operator needs, for all namespaces.

    `more` are the rules of `[tool.sampan] rbac`, for what its code does not declare.
    """
    extras = [{key: value for key, value in rule.items() if key != "namespaces"} for rule in more]
    return [*role_rules(rights_of(manager, kinds)), *extras]


def user_of(package: str) -> tuple[str, tuple[str, ...]]:
    """Return name and groups of the operator's ServiceAccount."""
    account = package.replace("_", "-")
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}", "system:authenticated")
    return f"system:serviceaccount:{NAMESPACE}:{account}", groups


def role_objects(package: str, rules: Sequence[Object]) -> list[tuple[ResourceInfo, Object]]:
    """Return the role with these rules, and its binding to the operator's ServiceAccount."""
    name = package.replace("_", "-")
    head = {"apiVersion": f"{_RBAC}/v1", "metadata": {"name": name}}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name}
    return [
        (ROLES, {**head, "kind": "ClusterRole", "rules": list(rules)}),
        (BINDINGS, {**head, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]}),
    ]


def missing_rule(message: str) -> str:
    """Return the rule that a refused request lacks, as a line of pyproject.toml; empty if the message names none."""
    found = _CANNOT.search(message)
    if found is None:
        return ""
    verb, resource, group = found.groups()
    return f'{{apiGroups = ["{group}"], resources = ["{resource}"], verbs = ["{verb}"]}}'


class DeniedRequests:
    """A transport that reports the missing rule of each refused request once. It wraps `inner`."""

    def __init__(self, inner: Transport, report: Callable[[str], None]) -> None:
        self._inner = inner
        self._report = report
        self._reported: set[str] = set()

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the response, whatever its code, when its head arrives."""
        response = await self._inner.send(request)
        return _Refused(response, self._note) if response.status == _FORBIDDEN else response

    async def aclose(self) -> None:
        """Close `inner`."""
        await self._inner.aclose()

    def _note(self, body: bytes) -> None:
        rule = missing_rule(body.decode(errors="replace").replace('\\"', '"'))
        if rule and rule not in self._reported:
            self._reported.add(rule)
            self._report(
                "denied: a right is missing; declare writes with Builder.writes, or add this rule to rbac of "
                f"[tool.sampan] in pyproject.toml: {rule}"
            )


class _Refused:
    """A response whose body is reported when it has been read."""

    def __init__(self, inner: HttpResponse, note: Callable[[bytes], None]) -> None:
        self._inner = inner
        self._note = note

    @property
    def status(self) -> int:
        """Status code."""
        return self._inner.status

    @property
    def headers(self) -> Headers:
        """Header fields, names in lower case."""
        return self._inner.headers

    async def read(self) -> bytes:
        """Return the whole body, decompressed."""
        body = await self._inner.read()
        self._note(body)
        return body

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, in arbitrary chunks."""
        return self._inner.chunks()

    async def aclose(self) -> None:
        """Close the connection unless the whole body has been read."""
        await self._inner.aclose()

"""Files with the roles of operators: their content, their differences, and an authorizer that grants only them.

A file has the documents of `Privileges.roles` for each operator. An annotation names the operator.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from sampan.core.policy_rules import Rule, path_rule_allows, uncovered
from sampan.server.authorization.authorizer import ALLOWED, NO_OPINION, Verdict
from sampan.server.request import RequestInfo, UserInfo
from sampan.testing.rights.privileges import Privileges, words

OPERATOR: Final = "sampan.dev/operator"
"""Annotation with the name that the operator has in the tests."""
USER: Final = "operator-under-test:"
"""Begins the name of the user of an operator that has only the rights of a file."""
_KINDS: Final = ("ClusterRole", "Role")
_HEAD: Final = "# Written by `sampan test privileges`: the rights that the operators used in the tests.\n"


class RoleFileError(ValueError):
    """The file has something other than roles. The text is one line."""


def documents_of(privileges: Mapping[str, Privileges], name: str, namespaces: Sequence[str]) -> list[dict[str, Any]]:
    """Return the roles of all operators. `name` is the name of the roles of one operator; "" for that of each."""
    found = []
    for operator, each in sorted(privileges.items()):
        title = operator if not name else name if len(privileges) == 1 else f"{name}-{operator}"
        for role in each.roles(title, namespaces):
            role["metadata"]["annotations"] = {OPERATOR: operator}
            found.append(role)
    return found


def text_of(roles: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a file."""
    return _HEAD + yaml.safe_dump_all([dict(each) for each in roles], sort_keys=False)


def read_roles(file: Path) -> list[dict[str, Any]]:
    """Return the roles of a file. Raises `RoleFileError`, `OSError`."""
    try:
        documents = [each for each in yaml.safe_load_all(file.read_text()) if each is not None]
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RoleFileError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    for each in documents:
        if not isinstance(each, dict) or each.get("kind") not in _KINDS or not isinstance(each.get("metadata"), dict):
            kind = each.get("kind") if isinstance(each, dict) else each
            raise RoleFileError(f"{file} must have only ClusterRoles and Roles, not {kind!r}")
        if not isinstance(each.get("rules") or [], list) or not all(
            isinstance(rule, dict) for rule in each.get("rules") or []
        ):
            raise RoleFileError(f"{file}: rules of {each['metadata'].get('name')} must be a list of mappings")
    return documents


def drift(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what the second roles have more (`+`) and less (`-`) than the first, one line each."""
    old, new = set(_rights(before)), set(_rights(after))
    return [f"+ {each}" for each in sorted(new - old)] + [f"- {each}" for each in sorted(old - new)]


def _rights(roles: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each right of each role as text."""
    for role in roles:
        metadata = role["metadata"]
        place = f"{role['kind']} {metadata.get('name')}" + (
            f" in {metadata['namespace']}" if metadata.get("namespace") else ""
        )
        for rule in role.get("rules") or ():
            names = f" named {', '.join(sorted(rule['resourceNames']))}" if rule.get("resourceNames") else ""
            groups, resources = (
                (rule.get("apiGroups"), rule.get("resources"))
                if rule.get("resources")
                else ([""], rule.get("nonResourceURLs"))
            )
            for group in groups or ():
                for resource in resources or ():
                    yield from (f"{place}: {words((group, resource, verb))}{names}" for verb in rule.get("verbs") or ())


def rights_of_operator(roles: Iterable[Mapping[str, Any]], operator: str) -> list[tuple[str, Rule]]:
    """Return the rules of an operator, each with its namespace; "" is the whole cluster."""
    return [
        ("" if role["kind"] == "ClusterRole" else str(role["metadata"].get("namespace", "")), rule)
        for role in roles
        if (role["metadata"].get("annotations") or {}).get(OPERATOR, operator) == operator
        for rule in role.get("rules") or ()
    ]


@dataclass(slots=True)
class RolesUnderTest:
    """Authorizer that grants operators the roles of a file, without objects in the cluster."""

    roles: Sequence[Mapping[str, Any]]
    _rules: dict[str, list[tuple[str, Rule]]] = field(default_factory=dict)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Return the verdict."""
        if not user.name.startswith(USER):
            return NO_OPINION
        if user.name not in self._rules:
            self._rules[user.name] = rights_of_operator(self.roles, user.name.removeprefix(USER))
        rules = [rule for place, rule in self._rules[user.name] if place in ("", info.namespace)]
        return ALLOWED if _allows(rules, info) else NO_OPINION


def _allows(rules: Sequence[Rule], info: RequestInfo) -> bool:
    if not info.is_resource:
        return any(path_rule_allows(rule, info.verb, info.path) for rule in rules)
    part: dict[str, Any] = {
        "verbs": [info.verb],
        "apiGroups": [info.group],
        "resources": [f"{info.resource}/{info.subresource}".rstrip("/")],
        "resourceNames": [info.name],
    }
    return not uncovered(rules, [part])

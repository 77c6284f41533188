"""`TypeChecker`: checks the expressions of a ValidatingAdmissionPolicy against the types that it matches.

The warnings are for the author of the policy. The warnings do not disable the policy. Each warning names a type by its
kind.

Source: apiserver pkg/admission/plugin/policy/validating/typechecking.go (1.36).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.definition import VersionDefinition
from sampan.registry.registry import ResourceRegistry
from sampan.schema.cel import CelCompileError
from sampan.schema.cel.admission import Expressions, Inputs
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.cel.types import DYN, CelType
from sampan.schema.structural import Schema

_TYPES_MAX = 10
_WARNINGS_MAX = 256 * 1024
"""Limit of the warnings of one policy in characters, so that its status can be stored. Later ones are cut off."""
_STRING = Schema(type="string")


class _Known(NamedTuple):
    gvk: GroupVersionKind
    version: VersionDefinition


class TypeChecker:
    """Checks expressions against the types that a cluster serves."""

    def __init__(self, cluster: Cluster) -> None:
        self._registry = cluster.registry
        self._offload = cluster.offload

    async def check(self, policy: Object) -> list[Object]:
        """Return the ExpressionWarnings of a policy, in the order of its validations.

        They are computed in a thread: a policy can have 100 KB of expressions, and each is checked for ten types.
        """
        spec = policy.get("spec") or {}
        kind = spec.get("paramKind")
        params = self._params_kind(kind) if kind else None
        return await self._offload.run(0, _warnings, spec, _matched(self._registry, spec), params, self._metadata())

    def _params_kind(self, kind: Object) -> _Known | None:
        group, _, version = kind.get("apiVersion", "").rpartition("/")
        for known in _versions(self._registry, version):
            if (known.gvk.group, known.gvk.kind) == (group, kind.get("kind")):
                return known
        return None

    def _metadata(self) -> Schema:
        found = self._registry.lookup("", "v1", "configmaps")
        assert found is not None
        return found[1].schema().properties["metadata"]


def _warnings(spec: Object, matched: Sequence[_Known], params: _Known | None, metadata: Schema) -> list[Object]:
    params_type = DYN if params is None else _type_of(params, metadata)
    checked = [(known.gvk, _expressions(spec, _type_of(known, metadata), params_type)) for known in matched]
    warnings = []
    left = _WARNINGS_MAX
    for index, validation in enumerate(spec.get("validations") or ()):
        for field in ("expression", "messageExpression"):
            expression = validation.get(field)
            found = _issues(checked, expression)[:left] if expression else ""
            left -= len(found)
            if found:
                warnings.append({"fieldRef": f"spec.validations[{index}].{field}", "warning": found})
    return warnings


def _expressions(spec: Object, object_type: CelType, params_type: CelType) -> Expressions:
    inputs = Inputs(params=bool(spec.get("paramKind")), object_type=object_type, params_type=params_type)
    expressions = Expressions(inputs)
    for variable in spec.get("variables") or ():
        try:
            expressions.add_variable(variable["name"], variable["expression"])
        except CelCompileError:
            continue  # later expressions use the type dyn for this variable
    return expressions


def _type_of(known: _Known, metadata: Schema) -> CelType:
    """Return the type of a complete object. Unlike a validation rule in a schema, a policy can read all metadata."""
    schema = known.version.schema()
    properties = {**schema.properties, "apiVersion": _STRING, "kind": _STRING, "metadata": metadata}
    return schema_type(replace(schema, type="object", properties=properties), known.gvk.kind) or DYN


def _issues(checked: Sequence[tuple[GroupVersionKind, Expressions]], expression: str) -> str:
    """Return a paragraph for each type with errors in the expression."""
    found = [(gvk, expressions.issues(expression)) for gvk, expressions in checked]
    return "\n".join(f"{gvk.group}/{gvk.version}, Kind={gvk.kind}: {issues}\n" for gvk, issues in found if issues)


def _matched(registry: ResourceRegistry, spec: Object) -> list[_Known]:
    """Return the types that the policy names, sorted. Rules with wildcards name none."""
    known: dict[GroupVersionKind, _Known] = {}
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        found = list(islice(_matched_by(registry, rule), _TYPES_MAX))
        known.update((each.gvk, each) for each in found)
        if len(found) == _TYPES_MAX:
            break
    return [known[gvk] for gvk in sorted(known)]


def _matched_by(registry: ResourceRegistry, rule: Object) -> Iterator[_Known]:
    groups, versions = sorted(rule.get("apiGroups") or ()), sorted(rule.get("apiVersions") or ())
    if any("*" in name for name in (*groups, *versions)):
        return
    resources = sorted(name for name in rule.get("resources") or () if "*" not in name and "/" not in name)
    for group in groups:
        for version in versions:
            for resource in resources:
                found = registry.lookup(group, version, resource)
                if found is not None:
                    yield _Known(GroupVersionKind(group, version, found[0].kind), found[1])


def _versions(registry: ResourceRegistry, name: str) -> Iterator[_Known]:
    for definition in registry.definitions():
        version = definition.versions.get(name)
        if version is not None and version.served:
            yield _Known(GroupVersionKind(definition.group, name, definition.kind), version)

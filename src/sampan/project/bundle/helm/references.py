"""`ReferenceRewriter`: names, namespaces and labels of an operator's objects that depend on the release."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.project.bundle.helm.template import Expression, literal

INSTANCE: Final = "app.kubernetes.io/instance"
_NAMED_BY: Final = frozenset(
    {"configMap", "configMapKeyRef", "configMapRef", "issuerRef", "secret", "secretKeyRef", "secretRef", "service"}
)
"""Keys of references whose `name` is that of an object."""
CLUSTER_KINDS: Final = frozenset(
    {"ClusterRole", "ClusterRoleBinding", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)
"""Kinds without a namespace whose names must differ between the releases of a cluster."""
_CLUSTER_RESOURCES: Final = frozenset(
    {"clusterroles", "clusterrolebindings", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
)


@dataclass(frozen=True, slots=True)
class ReferenceRewriter:
    """Rewrites references between the objects of one operator.

    The name of each object begins with `base`, except those that the operator's code names. Names of others, such as
    `system:auth-delegator`, stay as they are.
    """

    base: str
    """Name of the chart, and first part of the names."""
    namespace: str
    lease: str
    """Name of the Lease by which replicas elect their leader."""
    hooks: str = ""
    """Name of the webhook configurations."""
    converts: bool = False
    """True: the operator writes conversions into its CRDs."""

    def helper(self, name: str, argument: str = "$") -> Expression:
        """Return a call of one of the chart's named templates."""
        return Expression(f'include "{self.base}.{name}" {argument}')

    def name(self, text: str, *, cluster: bool = False) -> Any:
        """Return the name of an object in a release. `cluster`: the object has no namespace."""
        if cluster and text == self.hooks:
            return self.helper("hooks")
        if not self.owns(text):
            return text
        return self.helper("clusterName" if cluster else "name", f'(list $ "{text.removeprefix(self.base)}")')

    def owns(self, text: str) -> bool:
        """Return True if this is the name of one of the operator's objects."""
        return text == self.base or (text.startswith(f"{self.base}-"))

    def place(self, text: str) -> Any:
        """Return the namespace of an object in a release."""
        return Expression("$.Release.Namespace") if text == self.namespace else text

    def account(self, text: str) -> Any:
        """Return the name of the service account in a release."""
        return self.helper("serviceAccountName") if text == self.base else self.name(text)

    def rewritten(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object whose references follow the release. Of a CRD, this is only its conversion."""
        kind = obj["kind"]
        if kind == "CustomResourceDefinition":
            conversion = obj["spec"].get("conversion")
            changed = {} if conversion is None else {"conversion": self._inner("conversion", conversion)}
            return {**obj, "metadata": self._inner("metadata", obj["metadata"]), "spec": {**obj["spec"], **changed}}
        result: dict[str, Any] = {key: self._inner(key, value) for key, value in obj.items()}
        metadata = dict(result["metadata"])
        if kind == "ServiceAccount":
            metadata["name"] = self.account(obj["metadata"]["name"])
        else:
            metadata["name"] = self.name(obj["metadata"]["name"], cluster=kind in CLUSTER_KINDS)
        return {**result, "metadata": metadata}

    def _inner(self, key: str, value: Any) -> Any:
        if key == "namespace" and isinstance(value, str):
            return self.place(value)
        if isinstance(value, str) and (found := self._address(value)) is not None:
            return found
        if key == INSTANCE and isinstance(value, str):
            return Expression("$.Release.Name")
        if key == "secretName" and isinstance(value, str):
            return self.name(value)
        if key == "serviceAccountName" and isinstance(value, str):
            return self.account(value)
        if isinstance(value, Mapping):
            return self._mapping(key, value)
        if isinstance(value, list):
            return [self._item(key, each) for each in value]
        return value

    def _address(self, text: str) -> Expression | None:
        """Return an object with its namespace: `NAMESPACE/NAME`, also as value of a flag, or `NAME.NAMESPACE.svc`."""
        own, place = rf"(?P<name>{re.escape(self.base)}(?:-[a-z0-9-]+)?)", re.escape(self.namespace)
        if found := re.fullmatch(rf"(?P<flag>--[a-z-]+=)?{place}/{own}", text):
            format, parts = f"{found['flag'] or ''}%s/%s", ("$.Release.Namespace", literal(self.name(found["name"])))
        elif found := re.fullmatch(rf"{own}\.{place}(?P<rest>(?:\.[a-z0-9.]+)?)", text):
            format, parts = f"%s.%s{found['rest']}", (literal(self.name(found["name"])), "$.Release.Namespace")
        else:
            return None
        return Expression(f'printf "{format}" {" ".join(parts)}')

    def _mapping(self, key: str, value: Mapping[str, Any]) -> dict[str, Any]:
        result = {inner: self._inner(inner, each) for inner, each in value.items()}
        name = value.get("name")
        if isinstance(name, str):
            if key in _NAMED_BY:
                result["name"] = self.name(name)
            elif key == "roleRef":
                result["name"] = self.name(name, cluster=value.get("kind") == "ClusterRole")
        return result

    def _item(self, key: str, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return self._inner(key, value)
        result = self._mapping("", value)
        if key == "subjects" and value.get("kind") == "ServiceAccount":
            result["name"] = self.account(value["name"])
        if isinstance(names := value.get("resourceNames"), Sequence):
            resources = frozenset(value.get("resources", ()))
            result["resourceNames"] = [self._named_in_rule(each, resources) for each in names]
        return result

    def _named_in_rule(self, name: str, resources: frozenset[str]) -> Any:
        if "leases" in resources and name == self.lease:
            return self.helper("lease")
        return self.name(name, cluster=not _CLUSTER_RESOURCES.isdisjoint(resources))

"""Objects of the API that contain a caBundle, and pure functions that compute their patches.

Source: apiextensions/v1, admissionregistration/v1, apiregistration/v1 types.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sampan.client.patch import ApplyPatch, JsonPatch, MergePatch, Patch
from sampan.core.gvk import GroupVersionResource
from sampan.operator.webhook.hook import HookKind
from sampan.resource import Object, ResourceInfo

FIELD_MANAGER: Final = "sampan-webhook"
CRDS: Final = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    "CustomResourceDefinition",
    namespaced=False,
)
API_SERVICES: Final = ResourceInfo(
    GroupVersionResource("apiregistration.k8s.io", "v1", "apiservices"), "APIService", namespaced=False
)


class InjectionTarget(Protocol):
    """One object that contains the caBundle."""

    @property
    def info(self) -> ResourceInfo:
        """Resource of the object."""
        ...

    @property
    def name(self) -> str:
        """Name of the object."""
        ...

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """Return the patch for the current object (None: it does not exist); None if no change is needed.

        The bundle is base64. An empty bundle means that the authorities are unknown, and is not written.
        """
        ...


@dataclass(frozen=True, slots=True)
class WebhookConfigurationTarget:
    """All webhooks of a configuration that is managed elsewhere."""

    kind: HookKind
    name: str

    @property
    def info(self) -> ResourceInfo:
        """Resource of the configuration."""
        return self.kind.info

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """Return the patch for the current object (None: it does not exist); None if no change is needed.

        Each change applies only if its webhook is still at the same position.
        """
        operations: list[Mapping[str, Any]] = []
        if not ca_bundle:
            return None
        for index, webhook in enumerate((obj or {}).get("webhooks") or ()):
            if (webhook.get("clientConfig") or {}).get("caBundle") != ca_bundle:
                place = f"/webhooks/{index}"
                operations.append({"op": "test", "path": f"{place}/name", "value": webhook["name"]})
                operations.append({"op": "add", "path": f"{place}/clientConfig/caBundle", "value": ca_bundle})
        return JsonPatch(operations) if operations else None


@dataclass(frozen=True, slots=True)
class ManagedConfiguration:
    """Configuration that the operator creates, and restores after changes or deletion.

    If a manifest has created it, only its caBundles are written. Otherwise two versions of an operator, which both run
    during an upgrade, would undo each other's rules.
    """

    kind: HookKind
    configuration: Object
    """Without caBundles."""

    @property
    def info(self) -> ResourceInfo:
        """Resource of the configuration."""
        return self.kind.info

    @property
    def name(self) -> str:
        """Name of the configuration."""
        name: str = self.configuration["metadata"]["name"]
        return name

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """Return the patch for the current object (None: it does not exist); None if no change is needed."""
        if obj is not None and not _is_applied(obj):
            return WebhookConfigurationTarget(self.kind, self.name).patch(obj, ca_bundle)
        webhooks = [
            {**webhook, "clientConfig": _complete(webhook["clientConfig"], ca_bundle)}
            for webhook in self.configuration["webhooks"]
        ]
        if obj is not None and _holds(obj.get("webhooks"), webhooks):
            return None
        return ApplyPatch({**self.configuration, "webhooks": webhooks})


@dataclass(frozen=True, slots=True)
class ConversionTarget:
    """Conversion webhook of a CRD. With `client_config`, the whole conversion is kept as the operator needs it."""

    name: str
    client_config: Mapping[str, Any] | None = None
    info = CRDS

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """Return the patch for the current object (None: it does not exist); None if no change is needed.

        A CRD that does not exist, or does not convert by webhook, is not changed.
        """
        if obj is None:
            return None
        conversion = obj["spec"].get("conversion") or {}
        if self.client_config is None:
            if conversion.get("strategy") != "Webhook":
                return None
            desired: Object = {"webhook": {"clientConfig": _complete({}, ca_bundle)}}
        else:
            config = _complete({"url": None, "service": None, **self.client_config}, ca_bundle)
            webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
            desired = {"strategy": "Webhook", "webhook": webhook}
        return None if _holds(conversion, desired) else MergePatch({"spec": {"conversion": desired}})


@dataclass(frozen=True, slots=True)
class ApiServiceTarget:
    """Aggregated API. One with `insecureSkipTLSVerify` must not have a caBundle, and gets none."""

    name: str
    info = API_SERVICES

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """Return the patch for the current object (None: it does not exist); None if no change is needed."""
        spec = (obj or {}).get("spec") or {}
        if (
            not ca_bundle
            or not spec.get("service")
            or spec.get("insecureSkipTLSVerify")
            or spec.get("caBundle") == ca_bundle
        ):
            return None
        return MergePatch({"spec": {"caBundle": ca_bundle}})


def _is_applied(obj: Object) -> bool:
    """Return True if an operator has applied this object as a whole."""
    entries = obj["metadata"].get("managedFields") or ()
    return any(each.get("manager") == FIELD_MANAGER and each.get("operation") == "Apply" for each in entries)


def _complete(client_config: Mapping[str, Any], ca_bundle: str) -> Object:
    return {**client_config, "caBundle": ca_bundle} if ca_bundle else dict(client_config)


def _holds(actual: Any, desired: Any) -> bool:
    """Return True if the actual value contains the desired one; other fields (defaults of the server) are ignored."""
    if isinstance(desired, Mapping):
        return isinstance(actual, Mapping) and all(_holds(actual.get(name), value) for name, value in desired.items())
    if isinstance(desired, Sequence) and not isinstance(desired, str):
        if not isinstance(actual, Sequence) or len(actual) != len(desired):
            return False
        return all(map(_holds, actual, desired))
    return bool(actual == desired)

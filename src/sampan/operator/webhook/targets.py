"""Objects of the API that hold a caBundle, and how it gets there. What is asked of them is a pure function.

Source: apiextensions/v1, admissionregistration/v1, apiregistration/v1 types.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sampan.client.patch import ApplyPatch, JsonPatch, MergePatch, Patch
from sampan.core.gvk import GroupVersionResource
from sampan.operator.webhook.hook import HookKind
from sampan.resource import Object, ResourceInfo

CRDS: Final = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    "CustomResourceDefinition",
    namespaced=False,
)
API_SERVICES: Final = ResourceInfo(
    GroupVersionResource("apiregistration.k8s.io", "v1", "apiservices"), "APIService", namespaced=False
)


class InjectionTarget(Protocol):
    """One object that is to hold the caBundle."""

    @property
    def info(self) -> ResourceInfo:
        """Its resource."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """What to change in the object as it is (None: it is not there); None: nothing.

        The bundle is base64; an empty one is not known here, and nothing of it is said.
        """
        ...


@dataclass(frozen=True, slots=True)
class WebhookConfigurationTarget:
    """All webhooks of a configuration that somebody else has made."""

    kind: HookKind
    name: str

    @property
    def info(self) -> ResourceInfo:
        """Of the configuration."""
        return self.kind.info

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """See `InjectionTarget.patch`. Each change holds only if its webhook still stands where it stood."""
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
    """A configuration that the operator makes itself, and makes again when somebody has changed or deleted it."""

    kind: HookKind
    configuration: Object
    """Without caBundles."""

    @property
    def info(self) -> ResourceInfo:
        """Of the configuration."""
        return self.kind.info

    @property
    def name(self) -> str:
        """Of the configuration."""
        name: str = self.configuration["metadata"]["name"]
        return name

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """See `InjectionTarget.patch`."""
        webhooks = [
            {**webhook, "clientConfig": _complete(webhook["clientConfig"], ca_bundle)}
            for webhook in self.configuration["webhooks"]
        ]
        if obj is not None and _holds(obj.get("webhooks"), webhooks):
            return None
        return ApplyPatch({**self.configuration, "webhooks": webhooks})


@dataclass(frozen=True, slots=True)
class ConversionTarget:
    """The conversion webhook of a CRD. With `client_config` the whole conversion is kept as the operator needs it."""

    name: str
    client_config: Mapping[str, Any] | None = None
    info = CRDS

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """See `InjectionTarget.patch`. A CRD that is not there, or does not convert by webhook, is left alone."""
        if obj is None:
            return None
        conversion = obj["spec"].get("conversion") or {}
        if self.client_config is None:
            if conversion.get("strategy") != "Webhook":
                return None
            wanted: Object = {"webhook": {"clientConfig": _complete({}, ca_bundle)}}
        else:
            config = _complete({"url": None, "service": None, **self.client_config}, ca_bundle)
            webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
            wanted = {"strategy": "Webhook", "webhook": webhook}
        return None if _holds(conversion, wanted) else MergePatch({"spec": {"conversion": wanted}})


@dataclass(frozen=True, slots=True)
class ApiServiceTarget:
    """An aggregated API. One that says `insecureSkipTLSVerify` may not have a caBundle, and gets none."""

    name: str
    info = API_SERVICES

    def patch(self, obj: Object | None, ca_bundle: str) -> Patch | None:
        """See `InjectionTarget.patch`."""
        spec = (obj or {}).get("spec") or {}
        if (
            not ca_bundle
            or not spec.get("service")
            or spec.get("insecureSkipTLSVerify")
            or spec.get("caBundle") == ca_bundle
        ):
            return None
        return MergePatch({"spec": {"caBundle": ca_bundle}})


def _complete(client_config: Mapping[str, Any], ca_bundle: str) -> Object:
    return {**client_config, "caBundle": ca_bundle} if ca_bundle else dict(client_config)


def _holds(actual: Any, wanted: Any) -> bool:
    """Whether everything that is wanted is there; what else there is (defaults of the server) does not count."""
    if isinstance(wanted, Mapping):
        return isinstance(actual, Mapping) and all(_holds(actual.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        if not isinstance(actual, Sequence) or len(actual) != len(wanted):
            return False
        return all(map(_holds, actual, wanted))
    return bool(actual == wanted)

"""Settings: enabled admission plug-ins and their configuration.

Source: apiserver pkg/server/options/admission.go; kubernetes pkg/kubeapiserver/options/plugins.go (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.suggestions import did_you_mean

SERVICE_ACCOUNT: Final = "ServiceAccount"
NODE_RESTRICTION: Final = "NodeRestriction"
OFF: Final = frozenset(
    {
        "AlwaysAdmit",
        "NamespaceAutoProvision",
        "NamespaceExists",
        "LimitPodHardAntiAffinityTopology",
        SERVICE_ACCOUNT,
        NODE_RESTRICTION,
        "AlwaysPullImages",
        "ImagePolicyWebhook",
        "PodNodeSelector",
        "PodTolerationRestriction",
        "EventRateLimit",
        "ExtendedResourceToleration",
        "OwnerReferencesPermissionEnforcement",
        "DenyServiceExternalIPs",
        "AlwaysDeny",
    }
)
"""Plug-ins that are off by default. Unlike in Kubernetes, ServiceAccount is among them, because it needs a controller
that creates the accounts.
"""


class BadConfiguration(ValueError):
    """A plug-in cannot use its configuration."""


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """Differences from the defaults."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    configurations: Mapping[str, Object] = field(default_factory=dict)
    """Configurations from the AdmissionConfiguration, by plug-in name."""

    def is_on(self, name: str) -> bool:
        """Return True if a plug-in is enabled."""
        return name not in self.disabled and (name in self.enabled or name not in OFF)


def check_names(enabled: frozenset[str], disabled: frozenset[str], known: frozenset[str]) -> None:
    """Check the names of plug-ins. **Raises** `ValueError` for a name that is unknown, or in both sets."""
    for option, names in (("enable", enabled), ("disable", disabled)):
        unknown = sorted(names - known)
        if unknown:
            hint = did_you_mean(unknown[0], known)
            raise ValueError(f"{option}-admission-plugins plugin {quote(unknown[0])} is unknown{hint}")
    both = sorted(enabled & disabled)
    if both:
        raise ValueError(f"[{' '.join(both)}] in enable-admission-plugins and disable-admission-plugins overlapped")

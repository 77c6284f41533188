"""How often the rules of a kind look at its metadata when an object is updated.

Every update is checked once by the rules that all objects share; most kinds check the same again by rules of their own,
and each check that fails is a cause of its own in the Status.
Source: kubernetes pkg/apis/*/validation, pkg/registry/*/*/strategy.go ValidateUpdate (1.36).
"""

from enum import Enum, auto
from typing import Final, NamedTuple


class Check(Enum):
    """What is looked at once more."""

    OBJECT = auto()
    """All that a new object must keep to, the kind's rule for names included."""
    UPDATE = auto()
    """What may not change, and labels, annotations and owners."""


class MetadataChecks(NamedTuple):
    """The checks of a kind in their order."""

    main: tuple[Check, ...] = (Check.UPDATE,)
    status: tuple[Check, ...] = (Check.UPDATE,)
    """Of /status, and of the /finalize of namespaces."""

    def of(self, subresource: str) -> tuple[Check, ...]:
        """The checks of an update of a subresource (empty: of the object itself)."""
        return self.status if subresource in ("status", "finalize") else self.main


MOST: Final = MetadataChecks()
"""What most kinds do, and custom resources."""

_UPDATE_OBJECT = MetadataChecks((Check.UPDATE, Check.OBJECT))
_OBJECT_UPDATE = MetadataChecks((Check.OBJECT, Check.UPDATE))
_OBJECT = MetadataChecks((Check.OBJECT,), ())
_NONE = MetadataChecks((), ())

_OTHER: Final = {
    ("", "configmaps"): _UPDATE_OBJECT,
    ("", "endpoints"): _UPDATE_OBJECT,
    ("", "events"): _NONE,
    ("", "limitranges"): _OBJECT,
    ("", "namespaces"): _OBJECT_UPDATE,
    ("", "nodes"): _OBJECT_UPDATE,
    ("", "persistentvolumeclaims"): _UPDATE_OBJECT,
    ("", "persistentvolumes"): MetadataChecks((Check.OBJECT, Check.OBJECT)),
    ("", "pods"): _UPDATE_OBJECT,
    ("", "secrets"): _UPDATE_OBJECT,
    ("", "serviceaccounts"): _UPDATE_OBJECT,
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"): _OBJECT,
    ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"): _OBJECT,
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _OBJECT,
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _OBJECT,
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _OBJECT,
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _OBJECT,
    ("apiregistration.k8s.io", "apiservices"): _UPDATE_OBJECT,
    ("apps", "controllerrevisions"): _UPDATE_OBJECT,
    ("batch", "cronjobs"): MetadataChecks((Check.UPDATE,), ()),
    ("batch", "jobs"): _OBJECT_UPDATE,
    ("certificates.k8s.io", "certificatesigningrequests"): MetadataChecks(*[(Check.OBJECT, Check.UPDATE)] * 2),
    ("discovery.k8s.io", "endpointslices"): _OBJECT,
    ("flowcontrol.apiserver.k8s.io", "flowschemas"): _OBJECT,
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): _OBJECT,
    ("networking.k8s.io", "ingressclasses"): _UPDATE_OBJECT,
    ("networking.k8s.io", "ingresses"): _UPDATE_OBJECT,
    ("networking.k8s.io", "ipaddresses"): _OBJECT_UPDATE,
    ("node.k8s.io", "runtimeclasses"): _OBJECT_UPDATE,
    ("policy", "poddisruptionbudgets"): _NONE,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _OBJECT_UPDATE,
    ("rbac.authorization.k8s.io", "clusterroles"): _OBJECT_UPDATE,
    ("rbac.authorization.k8s.io", "rolebindings"): _OBJECT_UPDATE,
    ("rbac.authorization.k8s.io", "roles"): _OBJECT_UPDATE,
    ("resource.k8s.io", "deviceclasses"): _OBJECT_UPDATE,
    ("resource.k8s.io", "resourceclaims"): _OBJECT_UPDATE,
    ("resource.k8s.io", "resourceclaimtemplates"): _OBJECT_UPDATE,
    ("storage.k8s.io", "csinodes"): _OBJECT,
    ("storage.k8s.io", "csistoragecapacities"): _OBJECT_UPDATE,
    ("storage.k8s.io", "storageclasses"): _OBJECT_UPDATE,
    ("storage.k8s.io", "volumeattachments"): MetadataChecks((Check.OBJECT,), (Check.OBJECT,)),
    ("storage.k8s.io", "volumeattributesclasses"): _UPDATE_OBJECT,
}
"""The built-in kinds that do otherwise than most."""


def metadata_checks(group: str, resource: str) -> MetadataChecks:
    """Those of a built-in resource."""
    return _OTHER.get((group, resource), MOST)

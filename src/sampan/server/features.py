"""Which of the features that Kubernetes has gates for this server has. It has no gates: they are as they are.

Named are those that concern an API server and that clients or operators may want to know of; others are not told of.
Source: apiserver pkg/features/kube_features.go, kubernetes pkg/features/kube_features.go (1.36).
"""

from typing import Final

FEATURES: Final[dict[str, tuple[str, bool]]] = {
    "APIResponseCompression": ("BETA", True),
    "APIServerIdentity": ("BETA", True),
    "APIServerTracing": ("", True),
    "AnonymousAuthConfigurableEndpoints": ("", True),
    "AuthorizeNodeWithSelectors": ("", True),
    "AuthorizeWithSelectors": ("", True),
    "CBORServingAndStorage": ("ALPHA", False),
    "CRDValidationRatcheting": ("", True),
    "ComponentFlagz": ("BETA", True),
    "ComponentStatusz": ("BETA", True),
    "ConsistentListFromCache": ("", True),
    "ConstrainedImpersonation": ("BETA", True),
    "CustomResourceFieldSelectors": ("", True),
    "InPlacePodVerticalScaling": ("", True),
    "KMSv1": ("DEPRECATED", False),
    "MutatingAdmissionPolicy": ("", True),
    "PortForwardWebsockets": ("BETA", True),
    "RemoteRequestHeaderUID": ("BETA", True),
    "ServiceAccountTokenNodeBinding": ("", True),
    "StorageVersionAPI": ("ALPHA", False),
    "StructuredAuthenticationConfiguration": ("", True),
    "TokenRequestServiceAccountUIDValidation": ("BETA", True),
    "UnknownVersionInteroperabilityProxy": ("BETA", False),
    "WatchList": ("BETA", True),
}
"""By name: the stage in Kubernetes ("": generally available), and whether it is here."""

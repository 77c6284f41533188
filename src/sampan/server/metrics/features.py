"""Features that have feature gates in Kubernetes. This server has no gates: features cannot be switched.

The table lists those that matter to clients or operators of an API server.

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
"""By name: the stage in Kubernetes ("" if generally available), and True if this server has the feature."""

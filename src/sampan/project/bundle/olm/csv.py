"""The ClusterServiceVersion of an operator: what OLM installs, and what catalogues show.

Source: operator-framework/api pkg/operators/v1alpha1 clusterserviceversion_types.go (0.45).
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from sampan.project.bundle.olm.descriptors import descriptors, title_of
from sampan.project.bundle.olm.settings import OlmSettings
from sampan.resource import Object

_OLDEST: Final = "1.28.0"
_MODES: Final = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")


def cluster_service_version(
    name: str,
    settings: OlmSettings,
    *,
    namespace: str,
    image: str,
    crds: Sequence[Object],
    samples: Sequence[Object],
    strategy: Object,
    webhooks: Sequence[Object],
    everywhere: bool,
) -> Object:
    """Return the object. `strategy`: the spec of its installation; `everywhere`: only for all namespaces."""
    annotations = {
        "alm-examples": json.dumps(list(samples), indent=2, ensure_ascii=False),
        "capabilities": settings.capabilities,
        "containerImage": image,
        "description": settings.summary,
        "operators.operatorframework.io/builder": "sampan",
    }
    if settings.categories:
        annotations["categories"] = ",".join(settings.categories)
    spec: dict[str, Any] = {
        "displayName": settings.display_name,
        "description": settings.description,
        "version": settings.version,
        "minKubeVersion": _OLDEST,
        "maturity": settings.maturity,
        "provider": {"name": settings.provider, **({"url": settings.provider_url} if settings.provider_url else {})},
        "maintainers": [dict(each) for each in settings.maintainers],
        "keywords": list(settings.keywords),
        "links": [dict(each) for each in settings.links],
        "icon": [{"base64data": settings.icon.data, "mediatype": settings.icon.media_type}],
        "installModes": [{"type": each, "supported": not everywhere or each == _MODES[-1]} for each in _MODES],
        "customresourcedefinitions": {"owned": [each for crd in crds for each in _owned(crd)]},
        "install": {"strategy": "deployment", "spec": strategy},
        "webhookdefinitions": list(webhooks),
        "relatedImages": [{"name": name, "image": image}],
        "replaces": settings.replaces,
    }
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": f"{name}.v{settings.version}", "namespace": namespace, "annotations": annotations},
        "spec": {key: value for key, value in spec.items() if value},
    }


def _owned(crd: Object) -> list[Object]:
    names = crd["spec"]["names"]
    found = []
    for version in crd["spec"]["versions"]:
        schema = version.get("schema", {}).get("openAPIV3Schema", {})
        owned: dict[str, Any] = {
            "name": crd["metadata"]["name"],
            "version": version["name"],
            "kind": names["kind"],
            "displayName": title_of(names["kind"]),
            "description": schema.get("description") or f"Objects of the kind {names['kind']}.",
        }
        for part in ("spec", "status"):
            if described := descriptors(schema, part):
                owned[f"{part}Descriptors"] = described
        found.append(owned)
    return found

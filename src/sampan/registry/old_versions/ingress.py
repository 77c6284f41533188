"""Ingresses and NetworkPolicies of extensions/v1beta1 and networking.k8s.io/v1beta1.

Source: pkg/apis/networking/v1beta1/{conversion,defaults}.go, pkg/apis/extensions/v1beta1/conversion.go (1.36).
"""

from sampan.core.object import Object
from sampan.registry.old_versions.parts import default, items, member


def ingress(obj: Object) -> None:
    """Move the Service of each backend into `service`, and rename `backend` to `defaultBackend`."""
    spec = member(obj, "spec")
    backend = spec.pop("backend", None)
    if backend is not None:
        spec["defaultBackend"] = _backend(backend)
    for rule in items(spec, "rules"):
        for path in items(member(rule, "http"), "paths"):
            default(path, pathType="ImplementationSpecific")
            path["backend"] = _backend(path.get("backend") or {})


def _backend(backend: Object) -> Object:
    name, port = backend.pop("serviceName", None) or "", backend.pop("servicePort", None)
    if name or port or isinstance(port, str):
        number_or_name = {"name": port} if isinstance(port, str) else {"number": port}
        backend["service"] = {"name": name, "port": number_or_name if port else {}}
    return backend

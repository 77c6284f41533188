"""Secrets of a class: references made from its templates, and the data that is sent to the driver.

Source: external-provisioner pkg/controller/controller.go `getSecretReference`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from sampan.client import Client
from sampan.component_base.resources import SECRETS
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.kinds import core_v1
from sampan.resource import meta

PREFIX: Final = "csi.storage.k8s.io/"
_TOKEN: Final = re.compile(r"\$\{([^}]*)\}")
_DEPRECATED: Final = {
    "provisioner": "csiProvisionerSecret",
    "controller-publish": "csiControllerPublishSecret",
    "node-stage": "csiNodeStageSecret",
    "node-publish": "csiNodePublishSecret",
}
USES: Final = (
    "provisioner",
    "controller-publish",
    "node-stage",
    "node-publish",
    "controller-expand",
    "node-expand",
    "controller-modify",
)
"""Calls that can have their own Secret."""


class InvalidClass(ValueError):
    """The parameters of a class are wrong."""


def secret_keys(use: str) -> tuple[str, str]:
    """Return the names of the parameters for a Secret's name and namespace. `use`: `""` for the Secret of all calls."""
    prefix = f"{PREFIX}{use}-secret" if use else f"{PREFIX}secret"
    return f"{prefix}-name", f"{prefix}-namespace"


def secret_reference(
    use: str, parameters: Mapping[str, str], volume_name: str, claim: core_v1.PersistentVolumeClaim
) -> core_v1.SecretReference | None:
    """Return the reference to the Secret of a call, or None. Raises `InvalidClass`."""
    templates = _templates(use, parameters) or _templates("", parameters)
    if templates is None:
        return None
    name, namespace = templates
    known = {"pv.name": volume_name, "pvc.namespace": meta(claim).namespace}
    found: core_v1.SecretReference = {"namespace": resolved(namespace, known)}
    known["pvc.name"] = meta(claim).name
    known |= {f"pvc.annotations['{key}']": value for key, value in meta(claim).annotations.items()}
    found["name"] = resolved(name, known)
    if dns1123_label_errors(found["namespace"]):
        raise InvalidClass(f'"{namespace}" resolved to "{found["namespace"]}" which is not a valid namespace name')
    if dns1123_subdomain_errors(found["name"]):
        raise InvalidClass(f'"{name}" resolved to "{found["name"]}" which is not a valid secret name')
    return found


def _templates(use: str, parameters: Mapping[str, str]) -> tuple[str, str] | None:
    names, namespaces = list[str](), list[str]()
    keys = [secret_keys(use)]
    if use in _DEPRECATED:
        keys.append((f"{_DEPRECATED[use]}Name", f"{_DEPRECATED[use]}Namespace"))
    for name_key, namespace_key in keys:
        names += [parameters[name_key]] if name_key in parameters else []
        namespaces += [parameters[namespace_key]] if namespace_key in parameters else []
    if not names and not namespaces:
        return None
    if len(names) != 1 or len(namespaces) != 1 or not names[0] or not namespaces[0]:
        raise InvalidClass(f"{use or 'default'} secrets need exactly one name and one namespace in the parameters")
    return names[0], namespaces[0]


def resolved(template: str, known: Mapping[str, str]) -> str:
    """Return a template with its tokens replaced. Raises `InvalidClass` for unknown tokens."""
    missing = sorted({token for token in _TOKEN.findall(template) if token not in known})
    if missing:
        raise InvalidClass(f'error resolving value "{template}": invalid tokens: {missing}')
    return _TOKEN.sub(lambda match: known[match[1]], template)


async def secret_data(client: Client, reference: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the data of a Secret; empty without a reference. Raises `ApiError`, `TransportError`, `ValueError`."""
    if not reference:
        return {}
    secret = await client.resource(SECRETS, namespace=reference["namespace"]).get(reference["name"])
    data = secret.get("data") or {}
    return {key: base64.b64decode(value).decode() for key, value in data.items()}

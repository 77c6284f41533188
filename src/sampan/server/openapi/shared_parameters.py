"""Parameters of OpenAPI v2 operations, collected in one place as kube-apiserver does.

Source: kube-openapi pkg/builder/parameters.go (1.36).
"""

import base64
import hashlib
from typing import Any

from sampan.wire import json as wire_json

Json = dict[str, Any]
_PREFIX = "#/parameters/"
_SHARED_BODIES = "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1."
_HASH_BYTES = 6


def share_parameters(document: Json) -> Json:
    """Return the document with the parameters moved to `parameters`, and references in their old places.

    Parameters called `name` are not moved, nor are bodies except DeleteOptions and Patch, because they depend on the
    kind. The document itself is not changed.
    """
    names: dict[bytes, str] = {}
    parameters: Json = {}

    def shared(parameter: Json) -> Json:
        if parameter["name"] == "name" or "$ref" in parameter:
            return parameter
        if parameter["in"] == "body" and not str(parameter["schema"].get("$ref", "")).startswith(_SHARED_BODIES):
            return parameter
        key = wire_json.encode(parameter)
        name = names.get(key)
        if name is None:
            name = names[key] = f"{parameter['name']}-{_hash(key)}"
            parameters[name] = parameter
        return {"$ref": _PREFIX + name}

    def referring(node: Json) -> Json:
        return {**node, "parameters": [shared(each) for each in node["parameters"]]} if "parameters" in node else node

    paths = {
        path: referring({key: referring(value) if isinstance(value, dict) else value for key, value in item.items()})
        for path, item in document["paths"].items()
    }
    return {**document, "paths": paths, "parameters": dict(sorted(parameters.items()))}


def inline_parameters(document: Json) -> Json:
    """Return the paths of another server's document without references to its shared parameters."""
    known = document.get("parameters") or {}

    def inlined(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        return {key: _resolved(value, known) if key == "parameters" else value for key, value in node.items()}

    return {
        path: inlined({method: inlined(operation) for method, operation in item.items()})
        for path, item in (document.get("paths") or {}).items()
    }


def _resolved(parameters: Any, known: Json) -> Any:
    if not isinstance(parameters, list):
        return parameters
    found = []
    for each in parameters:
        reference = each.get("$ref") if isinstance(each, dict) else None
        found.append(known.get(str(reference).removeprefix(_PREFIX), each) if reference else each)
    return found


def _hash(key: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(key).digest()[:_HASH_BYTES]).decode()

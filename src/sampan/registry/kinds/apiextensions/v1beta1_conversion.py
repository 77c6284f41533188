"""CustomResourceDefinitions: conversion between apiextensions.k8s.io/v1beta1 and the hub, v1.

v1 sets schema, subresources, printer columns and selectable fields in each version. v1beta1 may set them once for all
versions, and shows them once if all versions are equal.

Source: apiextensions-apiserver pkg/apis/apiextensions/{v1,v1beta1}/{conversion,defaults}.go (1.36).
"""

import copy
from typing import Any

from sampan.core.object import Object
from sampan.registry.api_version_conversion import ApiVersionConversion

_FOR_ALL_VERSIONS = {
    "validation": "schema",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}
"""Fields of a v1beta1 spec, and the equivalent field of each version."""

_ABSENT = object()


def _default_v1beta1(spec: Object) -> None:
    """Set the defaults that only v1beta1 has."""
    spec.setdefault("scope", "Namespaced")
    spec.setdefault("preserveUnknownFields", True)
    if not spec.get("versions") and spec.get("version"):
        spec["versions"] = [{"name": spec["version"], "served": True, "storage": True}]


def _conversion_to_hub(conversion: Object) -> None:
    client_config = conversion.pop("webhookClientConfig", None)
    review_versions = conversion.pop("conversionReviewVersions", None)
    if conversion.get("strategy") == "Webhook" and not review_versions:
        review_versions = ["v1beta1"]
    if client_config is None and review_versions is None:
        return
    webhook: dict[str, Any] = {}
    if client_config is not None:
        webhook["clientConfig"] = client_config
    if review_versions is not None:
        webhook["conversionReviewVersions"] = review_versions
    conversion["webhook"] = webhook


def _conversion_from_hub(conversion: Object) -> None:
    webhook = conversion.pop("webhook", None)
    if not webhook:
        return
    if "clientConfig" in webhook:
        conversion["webhookClientConfig"] = webhook["clientConfig"]
    if "conversionReviewVersions" in webhook:
        conversion["conversionReviewVersions"] = webhook["conversionReviewVersions"]


def _rename_json_path(columns: list[Object], old: str, new: str) -> None:
    for column in columns:
        if old in column:
            column[new] = column.pop(old)


class CustomResourceDefinitionConversion(ApiVersionConversion):
    """Conversion between fields for all versions (v1beta1) and fields in each version (v1)."""

    def __init__(self) -> None:
        super().__init__("apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1")

    def to_hub(self, obj: Object) -> Object:
        """Return the object in v1, with the defaults of v1beta1 (`preserveUnknownFields` is true there)."""
        spec = super().to_hub(obj).setdefault("spec", {})
        _default_v1beta1(spec)
        spec.pop("version", None)
        versions = spec.get("versions", [])
        for top, each in _FOR_ALL_VERSIONS.items():
            value = spec.pop(top, None)
            if value is not None:
                for version in versions:
                    version[each] = copy.deepcopy(value)
        for version in versions:
            _rename_json_path(version.get("additionalPrinterColumns", ()), "JSONPath", "jsonPath")
        if "conversion" in spec:
            _conversion_to_hub(spec["conversion"])
        if not spec["preserveUnknownFields"]:
            del spec["preserveUnknownFields"]
        return obj

    def from_hub(self, obj: Object) -> Object:
        """Return the object in v1beta1."""
        spec = super().from_hub(obj).setdefault("spec", {})
        spec.setdefault("preserveUnknownFields", False)
        if "conversion" in spec:
            _conversion_from_hub(spec["conversion"])
        versions = spec.get("versions", [])
        for version in versions:
            _rename_json_path(version.get("additionalPrinterColumns", ()), "jsonPath", "JSONPath")
        if not versions:
            return obj
        spec["version"] = versions[0]["name"]
        for top, each in _FOR_ALL_VERSIONS.items():
            first = versions[0].get(each, _ABSENT)
            if first is not _ABSENT and all(version.get(each, _ABSENT) == first for version in versions):
                spec[top] = first
                for version in versions:
                    del version[each]
        return obj

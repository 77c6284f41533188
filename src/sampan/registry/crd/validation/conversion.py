"""Validation of `spec.conversion` of a CRD.

Source: apiextensions pkg/apis/apiextensions/validation/validation.go validateCustomResourceConversion (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, forbidden, invalid, not_supported, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1035_label_errors
from sampan.registry.crd.conditions import is_true
from sampan.registry.crd.validation.ca_bundle import ca_bundle_error, ca_bundle_of
from sampan.registry.rules.webhook_client import check_webhook_service, check_webhook_url

_CONVERSION = Path("spec", "conversion")
_KNOWN = ("v1", "v1beta1")


def conversion_faults(spec: dict[str, Any], old: Object | None) -> Iterator[FieldError]:
    """Yield all faults of the conversion. `old` is the CRD before the update."""
    conversion = spec.get("conversion")
    if not conversion:
        return
    strategy = conversion.get("strategy", "")
    path = _CONVERSION.child("strategy")
    if strategy != "None" and spec.get("preserveUnknownFields"):
        yield invalid(path, strategy, "must be None if spec.preserveUnknownFields is true")
    if not strategy:
        yield required(path)
    elif strategy not in ("None", "Webhook"):
        yield not_supported(path, strategy, ["None", "Webhook"])
    webhook = conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    at, versions_at = _CONVERSION.child("webhookClientConfig"), _CONVERSION.child("conversionReviewVersions")
    if strategy != "Webhook":
        text = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(at, text)
        if versions:
            yield forbidden(versions_at, text)
        return
    if client is None:
        yield required(at, "required when strategy is set to Webhook")
    else:
        yield from _client_faults(client, at)
        if not _may_be_unusable(old) and (text := ca_bundle_error(client.get("caBundle") or "")):
            yield invalid(at.child("caBundle"), client["caBundle"], text)
    yield from _review_versions_faults(versions, _supports_none(old), versions_at)


def _client_faults(client: Object, path: Path) -> list[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    faults: list[FieldError] = []
    if url is not None:
        check_webhook_url(url, path.child("url"), faults)
    elif service is not None:
        check_webhook_service(service, path.child("service"), faults)
    return faults


def _may_be_unusable(old: Object | None) -> bool:
    """Return True if an invalid CA bundle is accepted: until the CRD is established, or if it was invalid before."""
    return old is None or not is_true(old, "Established") or bool(ca_bundle_error(ca_bundle_of(old)))


def _supports_none(old: Object | None) -> bool:
    """Return True if the old CRD lists review versions, but none that this server supports.

    An update of such a CRD may keep them.
    """
    webhook = ((old or {"spec": {}})["spec"].get("conversion") or {}).get("webhook") or {}
    versions = webhook.get("conversionReviewVersions") or []
    return bool(versions) and not any(version in _KNOWN for version in versions)


def _review_versions_faults(versions: list[str], any_will_do: bool, path: Path) -> Iterator[FieldError]:
    if not versions:
        yield required(path)
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(path.index(index), version, "duplicate version")
        else:
            yield from (invalid(path.index(index), version, text) for text in dns1035_label_errors(version))
    if not any_will_do and not any(version in _KNOWN for version in versions):
        yield invalid(path, versions, f"must include at least one of {', '.join(_KNOWN)}")

"""Clients in webhook configurations: a URL, or a Service. Source: apiserver pkg/util/webhook/validation.go (1.36)."""

from __future__ import annotations

from sampan.core.addresses.url import parse_error, split_url
from sampan.core.field import Path, invalid, required
from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.core.validation.values import port_number_errors
from sampan.kinds import admissionregistration_v1
from sampan.registry.rules.fields import Errors

_FORM = "; desired format: https://host[/path]"


def check_webhook_url(url: str, path: Path, errors: Errors) -> None:
    """Check a URL of the form `https://host[/path]`. Source: apiserver pkg/util/webhook/validation.go (1.36)."""
    try:
        parts = split_url(url)
    except ValueError as error:
        errors.append(required(path, f"url must be a valid URL: {parse_error(url, error)}{_FORM}"))
        return
    if parts.scheme != "https":
        errors.append(invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, host, f"host must be specified{_FORM}"))
    if at:
        errors.append(invalid(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        errors.append(invalid(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        errors.append(invalid(path, parts.query, "query parameters are not permitted in the URL"))


def _check_service_path(text: str, path: Path, errors: Errors) -> None:
    if text in ("", "/"):
        return
    if text == "//":
        errors.append(invalid(path, text, "segment[0] may not be empty"))
        return
    if not text.startswith("/"):
        errors.append(invalid(path, text, "must start with a '/'"))
    for index, step in enumerate(text[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(invalid(path, text, f"segment[{index}] may not be empty"))
        else:
            texts = dns1123_subdomain_errors(step)
            errors.extend(invalid(path, text, f"segment[{index}]: {problem}") for problem in texts)


def check_webhook_service(service: admissionregistration_v1.ServiceReference, path: Path, errors: Errors) -> None:
    """Check name, namespace, port and path of a service.

    If the name or the namespace is missing, the error is reported at the other field, as in Kubernetes.
    """
    for name, reported in (("namespace", "name"), ("name", "namespace")):
        if not service.get(name):
            errors.append(required(path.child(reported)))
    port = service.get("port", 0)
    texts = port_number_errors(port)
    if texts:
        errors.append(invalid(path.child("port"), port, f"port is not valid: {', '.join(texts)}"))
    _check_service_path(service.get("path", ""), path.child("path"), errors)


def check_webhook_client(config: admissionregistration_v1.WebhookClientConfig, path: Path, errors: Errors) -> None:
    """Check that either a URL or a service is given, and that it is valid."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        errors.append(required(path, "exactly one of url or service is required"))
    elif url is not None:
        check_webhook_url(url, path.child("url"), errors)
    elif service is not None:
        check_webhook_service(service, path.child("service"), errors)

"""Validate domains and names that start with one: `example.com`, `acme.io/foo`. The functions return field errors.

Source: apimachinery pkg/util/validation/validation.go (1.36).
"""

import re

from sampan.core import field
from sampan.core.field import FieldError, Path
from sampan.core.validation.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    qualified_name_errors,
    regex_error,
)

_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_is_http_path = re.compile(_HTTP_PATH).fullmatch


def fully_qualified_name_errors(path: Path, name: str) -> list[FieldError]:
    """Validate a subdomain of at least three labels."""
    if not name:
        return [field.required(path)]
    if texts := dns1123_subdomain_errors(name):
        return [field.invalid(path, name, ",".join(texts))]
    if name.count(".") < 2:
        return [field.invalid(path, name, "should be a domain with at least three segments separated by dots")]
    return []


def fully_qualified_domain_name_errors(path: Path, name: str) -> list[FieldError]:
    """Validate a subdomain of at least two labels, each up to 63 bytes; a trailing dot is allowed."""
    if not name:
        return [field.required(path)]
    name = name.removesuffix(".")
    if texts := dns1123_subdomain_errors(name):
        return [field.invalid(path, name, ",".join(texts))]
    labels = name.split(".")
    if len(labels) < 2:
        return [field.invalid(path, name, "should be a domain with at least two segments separated by dots")]
    for label in labels:
        if texts := dns1123_label_errors(label):
            return [field.invalid(path, label, ",".join(texts))]
    return []


def domain_prefixed_path_errors(path: Path, value: str) -> list[FieldError]:
    """Validate a subdomain, a slash, and an HTTP path: `acme.io/foo`."""
    if not value:
        return [field.required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        return [field.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = [field.invalid(path, host, text) for text in dns1123_subdomain_errors(host)]
    if not _is_http_path(rest):
        errors.append(field.invalid(path, rest, regex_error("Invalid path", _HTTP_PATH)))
    return errors


def domain_prefixed_key_errors(path: Path, key: str) -> list[FieldError]:
    """Validate a label key that requires a prefix: `acme.io/foo`."""
    if not key:
        return [field.required(path)]
    if texts := qualified_name_errors(key):
        return [field.invalid(path, key, text) for text in texts]
    if "/" not in key:
        return [field.invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')]
    return []

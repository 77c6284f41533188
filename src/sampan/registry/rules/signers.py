"""Names of certificate signers and of their trust bundles. Source: pkg/apis/core/validation/names.go (1.36)."""

from sampan.core.field import FieldError, Path, invalid, required, too_long
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors

Errors = list[FieldError]


def check_signer_name(name: str, path: Path, errors: Errors) -> None:
    """Check a name of the form `<domain>/<path>`, of at most 571 characters.

    The domain has at least two labels, and the segments of the path are subdomains.
    """
    if not name:
        errors.append(required(path))
        return
    if name.count("/") != 1:
        text = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        errors.append(invalid(path, name, text))
        return
    domain, _, rest = name.partition("/")
    if len(domain) > 253:
        errors.append(too_long(path, "", 253))
    labels = domain.split(".")
    for label in labels:
        if texts := dns1123_label_errors(label):
            errors.extend(invalid(path, domain, f'validating label "{label}": {text}') for text in texts)
            break
    if len(labels) < 2:
        text = "should be a domain with at least two segments separated by dots"
        errors.append(invalid(path, domain, text))
    for label in rest.split("."):
        if texts := dns1123_subdomain_errors(label):
            errors.extend(invalid(path, rest, f'validating label "{label}": {text}') for text in texts)
            break
    if len(name) > 571:
        errors.append(too_long(path, "", 571))


def trust_bundle_name_errors(name: str) -> list[str]:
    """Check the name of a ClusterTrustBundle: a subdomain, with the signer's name as prefix if there is a signer."""
    signer, colon, rest = name.rpartition(":")
    if colon and not signer:
        return ['ClusterTrustBundle without signer name must not have ":" in its name']
    return dns1123_subdomain_errors(rest)

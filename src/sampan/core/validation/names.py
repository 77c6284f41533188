"""Validate names of objects, labels, ports and keys. Each function returns the error messages, or an empty list.

Lengths are bytes, as in Go, even where a message has the word "characters". The messages are protocol: clients show
and match them.
Source: apimachinery pkg/util/validation/validation.go, pkg/api/validate/content, pkg/api/validation/generic.go (1.36).
"""

import functools
import re
from typing import Protocol

DNS1123_LABEL_LENGTH_MAX = 63
DNS1123_SUBDOMAIN_LENGTH_MAX = 253
LABEL_KEY_LENGTH_MAX = 63
LABEL_VALUE_LENGTH_MAX = 63
GENERATED_NAME_LENGTH_MAX = 58
GENERATED_SUFFIX_LENGTH = 5
GENERATED_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"

_DNS1123_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS1123_LABEL_UNDERSCORE = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_DNS1123_SUBDOMAIN = f"{_DNS1123_LABEL}(\\.{_DNS1123_LABEL})*"
_DNS1123_SUBDOMAIN_UNDERSCORE = f"{_DNS1123_LABEL_UNDERSCORE}(\\.{_DNS1123_LABEL_UNDERSCORE})*"
_DNS1035_LABEL = "[a-z]([-a-z0-9]*[a-z0-9])?"
_WILDCARD = f"\\*\\.{_DNS1123_SUBDOMAIN}"
_LABEL_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_LABEL_KEY})?"

# Equivalent to the expressions shown to clients, but written to match without backtracking.
_is_dns1123_label = re.compile("[a-z0-9]+(?:-+[a-z0-9]+)*").fullmatch
_is_dns1123_subdomain = re.compile(r"[a-z0-9]+(?:(?:-+|\.)[a-z0-9]+)*").fullmatch
_is_dns1123_subdomain_underscore = re.compile(_DNS1123_SUBDOMAIN_UNDERSCORE).fullmatch
_is_dns1035_label = re.compile(_DNS1035_LABEL).fullmatch
_is_wildcard = re.compile(_WILDCARD).fullmatch
_is_label_key = re.compile("[A-Za-z0-9]+(?:[-_.]+[A-Za-z0-9]+)*").fullmatch


class Chooser(Protocol):
    """Part of `random.Random` that name generation uses."""

    def choices(self, population: str, *, k: int) -> list[str]: ...


def regex_error(message: str, expression: str, *examples: str) -> str:
    """Format the error message of a value that an expression does not match."""
    if not examples:
        return f"{message} (regex used for validation is '{expression}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {shown}regex used for validation is '{expression}')"


_DNS1123_LABEL_ERROR = regex_error(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    _DNS1123_LABEL,
    "my-name",
    "123-abc",
)
_DNS1123_SUBDOMAIN_ERROR = regex_error(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    _DNS1123_SUBDOMAIN,
    "example.com",
)
_DNS1123_SUBDOMAIN_UNDERSCORE_ERROR = regex_error(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character",
    _DNS1123_SUBDOMAIN_UNDERSCORE,
    "example.com",
)
_DNS1035_LABEL_ERROR = regex_error(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _DNS1035_LABEL,
    "my-name",
    "abc-123",
)
_WILDCARD_ERROR = regex_error(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    _WILDCARD,
    "*.example.com",
)
_LABEL_KEY_ERROR = regex_error(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _LABEL_KEY,
    "MyName",
    "my.name",
    "123-abc",
)
_LABEL_VALUE_ERROR = regex_error(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    _LABEL_VALUE,
    "MyValue",
    "my_value",
    "12345",
)


def longer_than(text: str, length_max: int) -> bool:
    """Report whether the UTF-8 form has more than `length_max` bytes. Encodes the text only if necessary."""
    if len(text) > length_max:
        return True
    return not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > length_max


def mask_trailing_dash(name: str) -> str:
    """Replace the trailing dash of a name prefix before validation, because a suffix will follow it.

    Removes one character more than expected, as Kubernetes does.
    """
    return f"{name[:-2]}a" if len(name) > 1 and name[-1] == "-" else name


def dns1123_subdomain_errors(name: str, *, prefix: bool = False) -> list[str]:
    """Validate most object names: lower case letters, digits, `-` and `.`, up to 253 bytes."""
    if prefix:
        name = mask_trailing_dash(name)
    if _is_dns1123_subdomain(name):
        return [] if len(name) <= DNS1123_SUBDOMAIN_LENGTH_MAX else ["must be no more than 253 characters"]
    errors = ["must be no more than 253 characters"] if longer_than(name, DNS1123_SUBDOMAIN_LENGTH_MAX) else []
    errors.append(_DNS1123_SUBDOMAIN_ERROR)
    return errors


def dns1123_subdomain_with_underscore_errors(name: str) -> list[str]:
    """Validate a subdomain whose labels may contain underscores."""
    errors = ["must be no more than 253 characters"] if longer_than(name, DNS1123_SUBDOMAIN_LENGTH_MAX) else []
    if not _is_dns1123_subdomain_underscore(name):
        errors.append(_DNS1123_SUBDOMAIN_UNDERSCORE_ERROR)
    return errors


def dns1123_label_errors(name: str, *, prefix: bool = False) -> list[str]:
    """Validate namespaces and names of object parts: one DNS label, up to 63 bytes."""
    if prefix:
        name = mask_trailing_dash(name)
    if _is_dns1123_label(name):
        return [] if len(name) <= DNS1123_LABEL_LENGTH_MAX else ["must be no more than 63 characters"]
    errors = ["must be no more than 63 characters"] if longer_than(name, DNS1123_LABEL_LENGTH_MAX) else []
    errors.append("must not contain dots" if _is_dns1123_subdomain(name) else _DNS1123_LABEL_ERROR)
    return errors


def dns1035_label_errors(name: str, *, prefix: bool = False) -> list[str]:
    """Validate a DNS label that starts with a letter, up to 63 bytes (services)."""
    if prefix:
        name = mask_trailing_dash(name)
    errors = ["must be no more than 63 characters"] if longer_than(name, DNS1123_LABEL_LENGTH_MAX) else []
    if not _is_dns1035_label(name):
        errors.append(_DNS1035_LABEL_ERROR)
    return errors


def wildcard_dns1123_subdomain_errors(name: str) -> list[str]:
    """Validate `*.` followed by a subdomain (ingress hosts)."""
    errors = ["must be no more than 253 characters"] if longer_than(name, DNS1123_SUBDOMAIN_LENGTH_MAX) else []
    if not _is_wildcard(name):
        errors.append(_WILDCARD_ERROR)
    return errors


def path_segment_errors(name: str, *, prefix: bool = False) -> list[str]:
    """Validate RBAC names: any text that can be one segment of a URL path. Every object name must satisfy this rule."""
    if name in (".", "..") and not prefix:
        return [f"may not be '{name}'"]
    if "/" not in name and "%" not in name:
        return []
    return [f"may not contain '{part}'" for part in ("/", "%") if part in name]


_QUALIFIED_NAME_LENGTH_MAX = DNS1123_SUBDOMAIN_LENGTH_MAX + 1 + LABEL_KEY_LENGTH_MAX


@functools.lru_cache(maxsize=4096)
def _is_qualified_name(name: str) -> bool:
    """Report whether a name is valid. Cached, because clusters use few different label keys."""
    prefix, slash, rest = name.partition("/")
    if not slash:
        rest = prefix
    elif not _is_dns1123_subdomain(prefix) or len(prefix) > DNS1123_SUBDOMAIN_LENGTH_MAX:
        return False
    return len(rest) <= LABEL_KEY_LENGTH_MAX and _is_label_key(rest) is not None


def qualified_name_errors(name: str) -> list[str]:
    """Validate label and annotation keys: `[subdomain/]name`."""
    if len(name) <= _QUALIFIED_NAME_LENGTH_MAX and _is_qualified_name(name):
        return []
    prefix, slash, rest = name.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_LABEL_KEY_ERROR} "
            "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    errors = _key_prefix_errors(prefix) if slash else []
    if not rest:
        errors.append("name part must be non-empty")
    elif longer_than(rest, LABEL_KEY_LENGTH_MAX):
        errors.append("name part must be no more than 63 bytes")
    if not _is_label_key(rest):
        errors.append(f"name part {_LABEL_KEY_ERROR}")
    return errors


def _key_prefix_errors(prefix: str) -> list[str]:
    if not prefix:
        return ["prefix part must be non-empty"]
    errors: list[str] = []
    if longer_than(prefix, DNS1123_SUBDOMAIN_LENGTH_MAX):
        errors.append("prefix part must be no more than 253 bytes")
    if not _is_dns1123_subdomain(prefix):
        errors.append(f"prefix part {_DNS1123_SUBDOMAIN_ERROR}")
    return errors


def label_value_errors(value: str) -> list[str]:
    """Validate label values: empty, or letters, digits, `-`, `_`, `.`, up to 63 bytes."""
    if not value:
        return []
    if _is_label_key(value):
        return [] if len(value) <= LABEL_VALUE_LENGTH_MAX else ["must be no more than 63 bytes"]
    errors = ["must be no more than 63 bytes"] if longer_than(value, LABEL_VALUE_LENGTH_MAX) else []
    errors.append(_LABEL_VALUE_ERROR)
    return errors


class NameRule(Protocol):
    """Validator of object names; `prefix` means that a suffix will be appended to the name."""

    def __call__(self, name: str, *, prefix: bool = False) -> list[str]: ...


def generate_name(base: str, random: Chooser) -> str:
    """Generate a name from `generateName`: the base, cut to 58 characters, and five random characters without vowels.

    Source: apiserver pkg/storage/names/generate.go (1.36).
    """
    return base[:GENERATED_NAME_LENGTH_MAX] + "".join(
        random.choices(GENERATED_SUFFIX_ALPHABET, k=GENERATED_SUFFIX_LENGTH)
    )

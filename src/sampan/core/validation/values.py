"""Validate values that are not object names: ports, percentages, headers, keys, integers.

Each function returns the error messages, or an empty list; lengths are bytes.
Source: apimachinery pkg/util/validation/validation.go (1.36).
"""

import re

from sampan.core.validation.names import DNS1123_SUBDOMAIN_LENGTH_MAX, longer_than, regex_error

_PERCENT = "[0-9]+%"
_HTTP_HEADER = "[-A-Za-z0-9]+"
_CONFIG_MAP_KEY = "[-._a-zA-Z0-9]+"

_is_percent = re.compile(_PERCENT).fullmatch
_is_http_header = re.compile(_HTTP_HEADER).fullmatch
_is_config_map_key = re.compile(_CONFIG_MAP_KEY).fullmatch
_is_port_name_charset = re.compile("[-a-z0-9]+").fullmatch
_has_letter = re.compile("[a-z]").search
_is_decimal_integer = re.compile("0|-?[1-9][0-9]*").fullmatch


_PERCENT_ERROR = regex_error(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT, "1%", "93%"
)
_HTTP_HEADER_ERROR = regex_error(
    "a valid HTTP header must consist of alphanumeric characters or '-'", _HTTP_HEADER, "X-Header-Name"
)
_CONFIG_MAP_KEY_ERROR = regex_error(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    _CONFIG_MAP_KEY,
    "key.name",
    "KEY_NAME",
    "key-name",
)


def in_range_errors(value: int, low: int, high: int) -> list[str]:
    """Validate that `low` <= `value` <= `high`."""
    return [] if low <= value <= high else [f"must be between {low} and {high}, inclusive"]


def port_number_errors(port: int) -> list[str]:
    """Validate a port number, which must not be zero."""
    return in_range_errors(port, 1, 65535)


def port_name_errors(port: str) -> list[str]:
    """Validate the name of a port: an RFC 6335 service name in lower case, up to 15 bytes."""
    errors: list[str] = []
    if longer_than(port, 15):
        errors.append("must be no more than 15 characters")
    if not _is_port_name_charset(port):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _has_letter(port):
        errors.append("must contain at least one letter (a-z)")
    if "--" in port:
        errors.append("must not contain consecutive hyphens")
    if port and (port[0] == "-" or port[-1] == "-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def percent_errors(value: str) -> list[str]:
    """Validate a percentage: `25%`."""
    return [] if _is_percent(value) else [_PERCENT_ERROR]


def http_header_name_errors(value: str) -> list[str]:
    """Validate the name of an HTTP header, as Go's library requires it."""
    return [] if _is_http_header(value) else [_HTTP_HEADER_ERROR]


def relaxed_environment_variable_name_errors(value: str) -> list[str]:
    """Validate environment variable names by the rule since 1.34: printable ASCII without `=`."""
    if not value:
        return ["environment variable name must be non-empty"]
    if value.isascii() and value.isprintable() and "=" not in value:
        return []
    return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]


def config_map_key_errors(value: str) -> list[str]:
    """Validate a key of the data of a ConfigMap or Secret."""
    errors = ["must be no more than 253 characters"] if longer_than(value, DNS1123_SUBDOMAIN_LENGTH_MAX) else []
    if not _is_config_map_key(value):
        errors.append(_CONFIG_MAP_KEY_ERROR)
    return errors + _parent_directory_errors(value)


def decimal_integer_errors(value: str) -> list[str]:
    """Validate an integer in canonical form: no plus sign, no leading zeros."""
    if not value:
        return ["must be non-empty"]
    return [] if _is_decimal_integer(value) else ["must be a valid decimal integer in canonical form"]


def _parent_directory_errors(value: str) -> list[str]:
    if value == ".":
        return ["must not be '.'"]
    if value == "..":
        return ["must not be '..'"]
    return ["must not start with '..'"] if value.startswith("..") else []

"""Named formats: `format.dns1123Label().validate(text)`. Source: apiserver pkg/cel/library/format.go (1.36)."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from sampan.core.validation import names
from sampan.schema.cel import times
from sampan.schema.cel.declarations import Library, function, member, regex_cost, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.library.urls import uri_error
from sampan.schema.cel.types import STRING, list_of, optional_of, struct
from sampan.schema.cel.values import NONE, LibraryValue, OptionalValue

FORMAT = struct("kubernetes.NamedFormat")
FORMAT_SIZE_MAX = 64
"""Maximum length of a format's name, for the cost estimate of `==`."""
REGEX_SIZE_MAX = 128
"""Maximum length of a format's pattern, for the cost estimate of `validate`."""
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


class FormatValue(LibraryValue):
    """Named format; `regex_size` is the length of its pattern, or an assumed length."""

    __slots__ = ("errors", "name", "regex_size")
    type_name = FORMAT.name

    def __init__(self, name: str, regex_size: int, errors: Callable[[str], list[str]]) -> None:
        self.name = name
        self.regex_size = regex_size
        self.errors = errors

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FormatValue) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def _label(text: str) -> list[str]:
    return names.dns1123_label_errors(text)


def _label_prefix(text: str) -> list[str]:
    return names.dns1123_label_errors(text, prefix=True)


def _subdomain(text: str) -> list[str]:
    return names.dns1123_subdomain_errors(text)


def _subdomain_prefix(text: str) -> list[str]:
    return names.dns1123_subdomain_errors(text, prefix=True)


def _label_1035(text: str) -> list[str]:
    return names.dns1035_label_errors(text)


def _label_1035_prefix(text: str) -> list[str]:
    return names.dns1035_label_errors(text, prefix=True)


def _uri(text: str) -> list[str]:
    reason = uri_error(text)
    return [reason] if reason else []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return []


def _date(text: str) -> list[str]:
    try:
        return [] if times.parse_date(text) is not None else ["invalid date"]
    except CelRuntimeError:
        return ["invalid date"]


def _datetime(text: str) -> list[str]:
    try:
        return [] if times.parse_timestamp(text) is not None else ["invalid datetime"]
    except CelRuntimeError:
        return ["invalid datetime"]


_FORMATS = {
    "dns1123Label": FormatValue("DNS1123Label", 30, _label),
    "dns1123Subdomain": FormatValue("DNS1123Subdomain", 60, _subdomain),
    "dns1035Label": FormatValue("DNS1035Label", 30, _label_1035),
    "qualifiedName": FormatValue("QualifiedName", 60, names.qualified_name_errors),
    "dns1123LabelPrefix": FormatValue("DNS1123LabelPrefix", 30, _label_prefix),
    "dns1123SubdomainPrefix": FormatValue("DNS1123SubdomainPrefix", 60, _subdomain_prefix),
    "dns1035LabelPrefix": FormatValue("DNS1035LabelPrefix", 30, _label_1035_prefix),
    "labelValue": FormatValue("LabelValue", 40, names.label_value_errors),
    "uri": FormatValue("URI", 1103, _uri),
    "uuid": FormatValue("uuid", 70, _uuid),
    "byte": FormatValue("byte", 84, _byte),
    "date": FormatValue("date", 71, _date),
    "datetime": FormatValue("datetime", 71, _datetime),
}


def _constant(value: FormatValue) -> Callable[[], FormatValue]:
    return lambda: value


def _named(name: str) -> OptionalValue:
    found = _FORMATS.get(name)
    return NONE if found is None else OptionalValue(found)


def _validate(value: FormatValue, text: str) -> OptionalValue:
    errors = value.errors(text)
    return OptionalValue(errors) if errors else NONE


def _validate_cost(args: tuple[Any, ...], result: Any) -> int:
    return regex_cost(len(args[1]), args[0].regex_size)


FORMATS = Library(
    (
        *(function(f"format.{name}", f"format.{name}", (), FORMAT, _constant(_FORMATS[name])) for name in _FORMATS),
        function("format.named", "format-named", (STRING,), optional_of(FORMAT), _named),
        *with_cost(
            _validate_cost,
            (member("validate", "format-validate", (FORMAT, STRING), optional_of(list_of(STRING)), _validate),),
        ),
    ),
    (FORMAT,),
)

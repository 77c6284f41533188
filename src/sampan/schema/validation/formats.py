"""String formats of CRD schemas.

Source: kube-openapi pkg/validation/strfmt/, apiextensions-apiserver pkg/apiserver/validation/formats.go (1.36).
"""

import datetime as dt
import ipaddress
import re
import unicodedata
from collections.abc import Callable
from email.headerregistry import Address
from urllib.parse import urlsplit

from sampan.core.numbers.integers import INT64_MAX, integer_or
from sampan.core.time import parse_duration
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors

FormatCheck = Callable[[str], bool]


def string_format(name: str) -> FormatCheck | None:
    """Return the check of a format, whose name may contain dashes; None for an unknown format."""
    return _FORMATS.get(name.replace("-", ""))


def is_known(name: str, type_: str) -> bool:
    """Report whether a format is defined for a type."""
    if type_ in ("", "string"):
        return string_format(name) is not None
    return name in {"integer": ("int32", "int64"), "number": ("float", "double")}.get(type_, ())


def _pattern(pattern: str) -> FormatCheck:
    search = re.compile(pattern, re.ASCII).search
    return lambda text: search(text) is not None


_TIME = re.compile(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))\Z", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DURATION = re.compile(r"(?<!\d)(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_DURATION_UNITS = (
    ("ns", "nano"),
    ("us", "µs", "micro"),
    ("ms", "milli"),
    ("s", "sec"),
    ("m", "min"),
    ("h", "hr", "hour"),
    ("d", "day"),
    ("w", "wk", "week"),
)
_EMAIL = re.compile(r"^(?:(?:[^<>@,;:\"]*+|\"[^\"]*\")\s*+<([^<>@\s]+@[^<>@\s]+)>|([^<>@\s]+@[^<>@\s]+))\Z")
_MAC = re.compile(
    r"^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1)*[0-9a-f]{2}\Z|^[0-9a-f]{4}(?:\.[0-9a-f]{4})+\Z", re.IGNORECASE
)
_CARD = re.compile(
    r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})\Z"
)


def _is_hostname(text: str) -> bool:
    if len(text.encode()) > 255 or any(len(part.encode()) > 63 for part in text.split(".")):
        return False
    labels = text.split(".")
    if len(labels) == 1:
        head, dash, tail = text.partition("-")
        return bool(head) and all(map(_is_label_char, head + tail)) and (not dash or len(head) == 1)
    top = labels.pop()
    return 2 <= len(top) <= 63 and all(map(_is_letter, top)) and all(map(_is_label, labels))


def _is_letter(char: str) -> bool:
    return unicodedata.category(char).startswith("L")


def _is_label_char(char: str) -> bool:
    return char in "0123456789" or unicodedata.category(char)[0] in "LS"


def _is_label(label: str) -> bool:
    inner = label.replace("-", "")
    return bool(inner) and label[0] != "-" and label[-1] != "-" and all(map(_is_label_char, inner))


def _is_uri(text: str) -> bool:
    """Report whether a text is a request URI: absolute, or a path that starts with a slash."""
    if not text or any(char <= " " or char == "\x7f" for char in text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if text.startswith("/"):
        return True
    return bool(parts.scheme) and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", parts.scheme) is not None


def _is_email(text: str) -> bool:
    match = _EMAIL.match(text.strip(" \t"))
    if match is None:
        return False
    try:
        Address(addr_spec=match[1] or match[2])
    except (ValueError, IndexError):
        return False
    return True


def _sloppy(text: str) -> str:
    """Remove leading zeros of IPv4 octets. Kubernetes, like old Go versions, reads such octets as decimal."""
    if "." not in text:
        return text
    head, colon, tail = text.rpartition(":")
    octets = [part.lstrip("0") or "0" if part.isascii() and part.isdigit() else part for part in tail.split(".")]
    return head + colon + ".".join(octets)


def _is_ip(text: str) -> bool:
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(_sloppy(text))
    except ValueError:
        return False
    return True


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdigit() or not _is_ip(address):
        return False
    return integer_or(bits, INT64_MAX) <= (128 if ":" in address else 32)


def _is_mac(text: str) -> bool:
    digits = sum(char not in ":-." for char in text)
    return digits in (12, 16, 40) and _MAC.match(text) is not None


def _isbn_digits(text: str) -> str:
    return re.sub(r"[\s-]+", "", text)


def _is_isbn10(text: str) -> bool:
    digits = _isbn_digits(text)
    if re.fullmatch(r"[0-9]{9}X|[0-9]{10}", digits, re.ASCII) is None:
        return False
    return sum((10 if char == "X" else int(char)) * (index + 1) for index, char in enumerate(digits)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = _isbn_digits(text)
    if re.fullmatch(r"[0-9]{13}", digits, re.ASCII) is None:
        return False
    return sum(int(char) * (3 if index % 2 else 1) for index, char in enumerate(digits)) % 10 == 0


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if _CARD.match(digits) is None:
        return False
    total = 0
    for index, char in enumerate(reversed(digits)):
        value = int(char) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _is_date(text: str) -> bool:
    if _DATE.fullmatch(text) is None:
        return False
    year, month, day = text.split("-")
    try:
        dt.date(int(year) or 4, int(month), int(day))
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(text) < 4 or len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.match(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return any(_is_unit(unit.lower()) for _, unit in _DURATION.findall(text))
    return True


def _is_unit(unit: str) -> bool:
    return any(unit in variants or unit.startswith(variants[-1]) for variants in _DURATION_UNITS)


_UUID = r"(?i)^[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{0}-?{1}-?[0-9a-f]{{12}}\Z"
_ANY = "[0-9a-f]{4}"
_BYTE = r"(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])"
_FORMATS: dict[str, FormatCheck] = {
    "bsonobjectid": _pattern(r"(?i)\A[0-9a-f]{24}\Z"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": lambda text: "." in text and _is_ip(text),
    "ipv6": lambda text: ":" in text and _is_ip(text),
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": _pattern(_UUID.format(_ANY, _ANY)),
    "uuid3": _pattern(_UUID.format("3[0-9a-f]{3}", _ANY)),
    "uuid4": _pattern(_UUID.format("4[0-9a-f]{3}", "[89ab][0-9a-f]{3}")),
    "uuid5": _pattern(_UUID.format("5[0-9a-f]{3}", "[89ab][0-9a-f]{3}")),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": _pattern(r"\A\d{3}[- ]?\d{2}[- ]?\d{4}\Z"),
    "hexcolor": _pattern(r"\A#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})\Z"),
    "rgbcolor": _pattern(rf"\Argb\(\s*{_BYTE}\s*,\s*{_BYTE}\s*,\s*{_BYTE}\s*\)\Z"),
    "byte": _pattern(r"\A(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})\Z"),
    "password": lambda text: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_datetime,
    "k8sshortname": lambda text: not dns1123_label_errors(text),
    "k8slongname": lambda text: not dns1123_subdomain_errors(text),
}

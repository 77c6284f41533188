"""Timestamps and durations: parsing, formatting, arithmetic and calendar fields.

Source: cel-go common/types/{timestamp,duration}.go; Go's time.ParseDuration and RFC 3339.
"""

import datetime
import re
import zoneinfo

from sampan.core import time
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.values import INT_MAX, INT_MIN, Duration, Timestamp

_SECOND = 10**9
_UNIX_MIN_S, _UNIX_MAX_S = -62135596800, 253402300799
_STAMP = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def parse_duration(text: str) -> Duration | None:
    """Parse a duration such as `1h2m3.5s`; None if it is malformed."""
    try:
        return Duration(time.parse_duration(text))
    except ValueError:
        return None


def _stamp(days: int, seconds: int, fraction: str | None, offset_s: int) -> Timestamp:
    unix_s = days * 86400 + seconds - offset_s
    if not _UNIX_MIN_S <= unix_s <= _UNIX_MAX_S:
        raise CelRuntimeError("timestamp overflow")
    return Timestamp(unix_s * _SECOND + int(((fraction or "") + "0" * 9)[:9]), offset_s)


def parse_timestamp(text: str) -> Timestamp | None:
    """Parse an RFC 3339 timestamp; None if it is malformed. **Raises** CelRuntimeError outside the years 1 to 9999."""
    match = _STAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[index]) for index in range(1, 7))
    if hour > 23 or minute > 59 or second > 59:
        return None
    if year == 0:
        raise CelRuntimeError("timestamp overflow")
    try:
        date = datetime.date(year, month, day)
    except ValueError:
        return None
    offset_s = 0
    if match[8]:
        if int(match[9]) > 24 or int(match[10]) > 59:
            return None
        offset_s = (int(match[9]) * 3600 + int(match[10]) * 60) * (-1 if match[8] == "-" else 1)
    return _stamp((date - _EPOCH.date()).days, hour * 3600 + minute * 60 + second, match[7], offset_s)


def parse_date(text: str) -> Timestamp | None:
    """Parse a date such as `2006-01-02` to its start in UTC."""
    return parse_timestamp(f"{text}T00:00:00Z") if len(text) == 10 else None


def _fraction(ns: int) -> str:
    return f".{ns:09d}".rstrip("0") if ns else ""


def format_duration(value: Duration) -> str:
    """Format a duration in seconds with as many digits as needed: `3723.004s`."""
    sign = "-" if value.ns < 0 else ""
    seconds, ns = divmod(abs(value.ns), _SECOND)
    return f"{sign}{seconds}{_fraction(ns)}s"


def format_timestamp(value: Timestamp) -> str:
    """Format a timestamp as RFC 3339, with its original offset."""
    seconds, ns = divmod(value.ns, _SECOND)
    local = _EPOCH.replace(tzinfo=None) + datetime.timedelta(seconds=seconds + value.offset_s)
    zone = "Z"
    if value.offset_s:
        hours, rest = divmod(abs(value.offset_s), 3600)
        zone = f"{'-' if value.offset_s < 0 else '+'}{hours:02d}:{rest // 60:02d}"
    return f"{local:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + _fraction(ns) + zone


def timestamp_of(ns: int, offset_s: int = 0) -> Timestamp:
    """Return a timestamp. **Raises** CelRuntimeError outside the years 1 to 9999."""
    if not _UNIX_MIN_S * _SECOND <= ns < (_UNIX_MAX_S + 1) * _SECOND:
        raise CelRuntimeError("timestamp overflow")
    return Timestamp(ns, offset_s)


def duration_of(ns: int) -> Duration:
    """Return a duration. **Raises** CelRuntimeError if it does not fit 64 bits."""
    if not INT_MIN <= ns <= INT_MAX:
        raise CelRuntimeError("integer overflow")
    return Duration(ns)


def _zone(name: str) -> datetime.tzinfo:
    match = _OFFSET.fullmatch(name)
    if match is not None:
        minutes = (int(match[2]) * 60 + int(match[3])) * (-1 if match[1] == "-" else 1)
        return datetime.timezone(datetime.timedelta(minutes=minutes))
    return datetime.UTC if name in ("", "UTC") else zoneinfo.ZoneInfo(name)


def local_time(value: Timestamp, zone: str = "UTC") -> datetime.datetime:
    """Return a timestamp in a time zone (`-08:00`, `Europe/Rome`). **Raises** CelRuntimeError."""
    seconds, ns = divmod(value.ns, _SECOND)
    try:
        utc = _EPOCH + datetime.timedelta(seconds=seconds, microseconds=ns // 1000)
        return utc if zone == "UTC" else utc.astimezone(_zone(zone))
    except (ValueError, OverflowError, zoneinfo.ZoneInfoNotFoundError, OSError):
        raise CelRuntimeError(f"unknown time zone {zone}") from None

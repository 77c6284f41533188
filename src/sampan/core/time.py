"""Time in the API's formats: timestamps, micro timestamps, Go durations, and ages for people.

Instants are aware `datetime`s in UTC; durations are integer nanoseconds (`duration_ns`), as in Go.
Source: apimachinery pkg/apis/meta/v1/{time,micro_time,duration}.go, pkg/util/duration/duration.go (1.36); Go's time.
"""

import datetime as dt
import re
from typing import Final, Protocol

from sampan.core.clock import unix_time, utc_now
from sampan.core.go_text import (
    extra_time,
    invalid_duration,
    invalid_time,
    missing_unit,
    unknown_unit,
    unmatched_time,
)

NANOSECONDS_PER_SECOND: Final = 1_000_000_000
_LAYOUT_SECONDS = "2006-01-02T15:04:05Z07:00"
_LAYOUT_MICRO = "2006-01-02T15:04:05.000000Z07:00"
_INT64_MAX: Final = 2**63 - 1
_INT64_DIGITS: Final = 19
_UTC: Final = dt.UTC
_FIRST: Final = dt.datetime.min.replace(tzinfo=_UTC)
_LAST: Final = dt.datetime.max.replace(tzinfo=_UTC)
_is_fraction = re.compile(r"[.,][0-9]+").match
_is_zone = re.compile(r"[+-][0-9]{2}:[0-9]{2}").match


class Clock(Protocol):
    """Source of the current time; tests pass a fake."""

    def now(self) -> dt.datetime:
        """Return the current time in UTC."""
        ...


class SystemClock:
    """Clock of the operating system."""

    def __init__(self) -> None:
        self._second = 0
        self._timestamp = ""

    def now(self) -> dt.datetime:
        """Return the current time in UTC."""
        return utc_now()

    def timestamp(self) -> str:
        """Return the current second as a `metav1.Time`. Cached for one second, because every write needs it."""
        second = int(unix_time())
        if second != self._second:
            self._timestamp = format_time(dt.datetime.fromtimestamp(second, _UTC))
            self._second = second
        return self._timestamp


def timestamp(clock: Clock) -> str:
    """Return the clock's current time as a `metav1.Time`."""
    return clock.timestamp() if isinstance(clock, SystemClock) else format_time(clock.now())


def format_time(instant: dt.datetime) -> str:
    """Format a `metav1.Time`: `2006-01-02T15:04:05Z`; fractions of a second are dropped."""
    if instant.tzinfo is not _UTC:
        instant = instant.astimezone(_UTC)
    return instant.isoformat("T", "seconds")[:19] + "Z"


def format_milliseconds(seconds: float) -> str:
    """Format seconds since the epoch as a time with milliseconds: `2006-01-02T15:04:05.123Z`."""
    return dt.datetime.fromtimestamp(seconds, _UTC).isoformat("T", "milliseconds")[:23] + "Z"


def format_micro_time(instant: dt.datetime) -> str:
    """Format a `metav1.MicroTime`: `2006-01-02T15:04:05.000000Z`, always with six digits."""
    if instant.tzinfo is not _UTC:
        instant = instant.astimezone(_UTC)
    return instant.isoformat("T", "microseconds")[:26] + "Z"


def parse_time(text: str) -> dt.datetime:
    """Parse a `metav1.Time` like Go (any offset, optional fraction). Raises `ValueError` with Go's message."""
    if len(text) == 20 and text[10] == "T" and text[19] == "Z" and text[4] == text[7] == "-":
        try:
            return dt.datetime.fromisoformat(text)
        except ValueError:
            pass
    return _TimeParser(text, _LAYOUT_SECONDS, micro=False).parse()


def parse_micro_time(text: str) -> dt.datetime:
    """Parse a `metav1.MicroTime`; requires exactly six digits of fraction. Raises `ValueError` with Go's message."""
    return _TimeParser(text, _LAYOUT_MICRO, micro=True).parse()


def canonical_time(text: str) -> str:
    """Return the form in which Kubernetes stores a timestamp: UTC, whole seconds. Raises `ValueError`."""
    return format_time(parse_time(text))


def canonical_micro_time(text: str) -> str:
    """Return the form in which Kubernetes stores a micro timestamp. Raises `ValueError`."""
    return format_micro_time(parse_micro_time(text))


class _TimeParser:
    """Parser of one timestamp that follows the layout element by element, so that the errors are Go's."""

    def __init__(self, text: str, layout: str, *, micro: bool) -> None:
        self._text = text
        self._rest = text
        self._layout = layout
        self._micro = micro

    def parse(self) -> dt.datetime:
        year = self._number("2006", 4, 0, 9999, "year")
        self._literal("-")
        month = self._number("01", 2, 1, 12, "month")
        self._literal("-")
        day = self._number("02", 2, 0, 99, "day")
        self._literal("T")
        hour = self._number("15", 2, 0, 23, "hour", short=True)
        self._literal(":")
        minute = self._number("04", 2, 0, 59, "minute")
        self._literal(":")
        second = self._number("05", 2, 0, 59, "second")
        microsecond = self._micro_fraction() if self._micro else self._free_fraction()
        offset = self._zone()
        if self._rest:
            raise ValueError(extra_time(self._text, self._rest))
        return self._build(year, month, day, hour, minute, second, microsecond, offset)

    def _build(self, *parts: int | dt.timedelta) -> dt.datetime:
        *numbers, offset = parts
        year, month, day, hour, minute, second, microsecond = (int(n) for n in numbers if isinstance(n, int))
        assert isinstance(offset, dt.timedelta)
        if year == 0:
            raise self._error("year out of range")
        try:
            local = dt.datetime(year, month, day, hour, minute, second, microsecond, tzinfo=_UTC)
        except ValueError:
            raise self._error("day out of range") from None
        try:
            return local - offset
        except OverflowError:
            raise self._error("year out of range") from None

    def _error(self, reason: str) -> ValueError:
        return ValueError(invalid_time(self._text, reason))

    def _mismatch(self, element: str) -> ValueError:
        return ValueError(unmatched_time(self._text, self._layout, self._rest, element))

    def _literal(self, char: str) -> None:
        if not self._rest.startswith(char):
            raise self._mismatch(char)
        self._rest = self._rest[1:]

    def _number(self, element: str, width: int, low: int, high: int, name: str, *, short: bool = False) -> int:
        digits = self._rest[:width]
        if short and digits[:1].isdecimal() and not digits[1:].isdecimal():
            digits = digits[:1]
            width = 1
        if len(digits) != width or not digits.isascii() or not digits.isdecimal():
            raise self._mismatch(element)
        number = int(digits)
        if not low <= number <= high:
            raise self._error(f"{name} out of range")
        self._rest = self._rest[width:]
        return number

    def _free_fraction(self) -> int:
        match = _is_fraction(self._rest)
        if match is None:
            return 0
        self._rest = self._rest[match.end() :]
        return int(match[0][1:7].ljust(6, "0"))

    def _micro_fraction(self) -> int:
        digits = self._rest[1:7]
        if self._rest[:1] not in (".", ",") or len(digits) != 6 or not (digits.isascii() and digits.isdecimal()):
            raise self._mismatch(".000000")
        self._rest = self._rest[7:]
        return int(digits)

    def _zone(self) -> dt.timedelta:
        if self._rest[:1] == "Z":
            self._rest = self._rest[1:]
            return dt.timedelta()
        if _is_zone(self._rest) is None:
            raise self._mismatch("Z07:00")
        hours, minutes = int(self._rest[1:3]), int(self._rest[4:6])
        if hours > 24:
            raise self._error("time zone offset hour out of range")
        if minutes > 60:
            raise self._error("time zone offset minute out of range")
        sign = -1 if self._rest[0] == "-" else 1
        self._rest = self._rest[6:]
        return sign * dt.timedelta(hours=hours, minutes=minutes)


_UNITS_NS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS_PER_SECOND,
    "m": 60 * NANOSECONDS_PER_SECOND,
    "h": 3600 * NANOSECONDS_PER_SECOND,
}
_duration_part = re.compile(r"([0-9]*)(\.?)([0-9]*)([^0-9.]*)").match


def parse_duration(text: str) -> int:
    """Parse a Go duration (`1h30m`, `-1.5s`) to nanoseconds. Raises `ValueError` with Go's message."""
    position = 1 if text[:1] in ("+", "-") else 0
    limit = _INT64_MAX + 1 if text.startswith("-") else _INT64_MAX
    if text[position:] == "0":
        return 0
    if position == len(text):
        raise ValueError(invalid_duration(text))
    total = 0
    while position < len(text):
        match = _duration_part(text, position)
        assert match is not None
        whole, _, fraction, unit = match.groups()
        if (not whole and not fraction) or len(whole.lstrip("0")) > _INT64_DIGITS:
            raise ValueError(invalid_duration(text))
        if not unit:
            raise ValueError(missing_unit(text))
        unit_ns = _UNITS_NS.get(unit)
        if unit_ns is None:
            raise ValueError(unknown_unit(unit, text))
        fraction = fraction[:_INT64_DIGITS]  # More digits are less than a nanosecond in every unit.
        total += int(whole.lstrip("0") or "0") * unit_ns + int(fraction or "0") * unit_ns // 10 ** len(fraction)
        if total > limit:
            raise ValueError(invalid_duration(text))
        position = match.end()
    return -total if text[0] == "-" else total


def add_seconds(instant: dt.datetime, seconds: float) -> dt.datetime:
    """Return the instant `seconds` seconds later, limited to the first and last instant of the calendar.

    Clients choose both: timestamps in status, and numbers of seconds of up to 64 bits.
    """
    try:
        return instant + dt.timedelta(seconds=seconds)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def format_duration(duration_ns: int) -> str:
    """Format a duration like Go: `1h30m0s`, `1.5s`, `100ms`, `0s`."""
    if duration_ns == 0:
        return "0s"
    sign, rest = ("-", -duration_ns) if duration_ns < 0 else ("", duration_ns)
    if rest < NANOSECONDS_PER_SECOND:
        for unit, unit_ns in (("ms", 1_000_000), ("µs", 1_000), ("ns", 1)):
            if rest >= unit_ns:
                return f"{sign}{_decimal(rest, unit_ns)}{unit}"
    minutes, rest = divmod(rest, 60 * NANOSECONDS_PER_SECOND)
    text = f"{_decimal(rest, NANOSECONDS_PER_SECOND)}s"
    if not minutes:
        return sign + text
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}h{minutes}m{text}" if hours else f"{sign}{minutes}m{text}"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    fraction = str(rest).rjust(len(str(unit)) - 1, "0").rstrip("0")
    return f"{whole}.{fraction}"


def canonical_duration(text: str) -> str:
    """Return the form in which Kubernetes stores a `metav1.Duration`. Raises `ValueError`."""
    return format_duration(parse_duration(text))


def human_duration(duration_s: float) -> str:
    """Format an age for `kubectl get`, with two or three significant figures: `45s`, `5m30s`, `3h`, `2d4h`."""
    seconds = int(duration_s)
    if seconds < 120:
        if seconds < -1:
            return "<invalid>"
        return f"{max(seconds, 0)}s"
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    return _human_days(hours)


def _human_days(hours: int) -> str:
    days = hours // 24
    if hours < 24 * 8:
        return _two(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _two(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


def age(timestamp: str | None, now: dt.datetime) -> str:
    """Return the age of a timestamp for a table cell; `<unknown>` without one, `<invalid>` if it is malformed."""
    if not timestamp:
        return "<unknown>"
    try:
        return human_duration((now - parse_time(timestamp)).total_seconds())
    except ValueError:
        return "<invalid>"

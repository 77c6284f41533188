"""Cron schedules: five fields, a descriptor (`@daily`) or an interval (`@every 1h30m`), and their next times.

Error messages are those of the library in Kubernetes (robfig/cron v3), because clients see them.
"""

import datetime as dt
from dataclasses import dataclass
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from sampan.core.numbers.integers import parse_integer
from sampan.core.time import NANOSECONDS_PER_SECOND, add_seconds, parse_duration

YEARS_AHEAD: Final = 5
"""Number of years that the search for the next time covers."""
_MINUTE: Final = dt.timedelta(minutes=1)
_WALKED: Final = dt.timedelta(minutes=2)
SCHEDULE_CHARACTERS_MAX: Final = 4096
"""Length limit of a schedule. A list of all values of all fields has about 500 characters. Kubernetes has no limit."""


class _Bounds(NamedTuple):
    low: int
    high: int
    names: dict[str, int]


def _names(*words: str, start: int) -> dict[str, int]:
    return {word: number for number, word in enumerate(words, start)}


_MONTHS = _names("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", start=1)
_DAYS = _names("sun", "mon", "tue", "wed", "thu", "fri", "sat", start=0)
_BOUNDS = (_Bounds(0, 59, {}), _Bounds(0, 23, {}), _Bounds(1, 31, {}), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "


class CronField(NamedTuple):
    """Numbers that a field allows, and whether the field was a star (`*`), which matters for days."""

    values: frozenset[int]
    star: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """Cron schedule: `fields` are minute, hour, day of month, month, day of week; or an interval `every_ns`."""

    fields: tuple[CronField, ...] = ()
    every_ns: int = 0
    time_zone: str = ""

    def next_after(self, instant: dt.datetime) -> dt.datetime | None:
        """Return the first time after an instant, in UTC; None if no time within `YEARS_AHEAD` years matches.

        With fields, this is the first minute whose local time matches them, in the time zone or in UTC. A local time
        that is skipped when clocks go forward never matches; one that occurs twice matches twice.
        """
        if not self.fields:
            whole_s = max(self.every_ns // NANOSECONDS_PER_SECOND, 1)
            return add_seconds(instant.astimezone(dt.UTC).replace(microsecond=0), whole_s)
        if instant.year + YEARS_AHEAD >= dt.MAXYEAR:
            return None
        zone = zone_of(self.time_zone)
        local = instant.astimezone(zone)
        last_year = local.year + YEARS_AHEAD
        past_s = dt.timedelta(seconds=local.second, microseconds=local.microsecond)
        found = instant.astimezone(dt.UTC) - past_s + _MINUTE
        while (local := found.astimezone(zone)).year <= last_year:
            units = self._units_to_wait(local)
            if not units:
                return found
            found = _advance(found, local, units, minutes=self.fields[0].values)
        return None

    def latest(self, since: dt.datetime, until: dt.datetime) -> dt.datetime | None:
        """Return the latest time after `since` and not after `until`; None if there is none.

        The first interval may be a year and all later ones a minute (`* * * 1 *`). So the time is found by bisection,
        which avoids iterating over half a million minutes. An `@every` schedule counts from `since`.
        """
        begin, end = since, until
        # Invariant: the latest time, if there is one, is after `begin` and not after `end`. An `@every` schedule counts
        # from the start time, so bisection does not apply to it.
        while not self.every_ns and end - begin > _WALKED:
            middle = begin + (end - begin) / 2
            coming = self.next_after(middle)
            if coming is not None and coming <= until:
                begin = middle
            else:
                end = middle
        found: dt.datetime | None = None
        coming = self.next_after(begin)
        while coming is not None and coming <= until:
            found, coming = coming, self.next_after(coming)
        return found

    def _units_to_wait(self, local: dt.datetime) -> str:
        """Return the units of time that can be skipped, the largest first; "" when the time matches."""
        minute, hour, day, month, weekday = self.fields
        if local.month not in month.values:
            return "mdhi"
        in_month, in_week = local.day in day.values, local.isoweekday() % 7 in weekday.values
        fits = in_month and in_week if day.star or weekday.star else in_month or in_week
        if not fits:
            return "dhi"
        if local.hour not in hour.values or local.minute > max(minute.values):
            return "hi"
        return "" if local.minute in minute.values else "ni"


def _advance(instant: dt.datetime, local: dt.datetime, units: str, *, minutes: frozenset[int]) -> dt.datetime:
    """Return the start of the next month (m), day (d), hour (h), allowed minute (n) or minute (i).

    Uses the largest unit within which the UTC offset does not change.
    """
    wall = local.replace(tzinfo=None)
    for unit in units[:-1]:
        then = instant + (_next_wall(wall, unit, minutes) - wall)
        if then.astimezone(local.tzinfo).utcoffset() == local.utcoffset():
            return then
    return instant + _MINUTE


def _next_wall(wall: dt.datetime, unit: str, minutes: frozenset[int]) -> dt.datetime:
    if unit == "n":
        return wall.replace(minute=min(minute for minute in minutes if minute > wall.minute))
    if unit == "h":
        return wall.replace(minute=0) + dt.timedelta(hours=1)
    midnight = wall.replace(hour=0, minute=0)
    if unit == "d":
        return midnight + dt.timedelta(days=1)
    return (midnight.replace(day=1) + dt.timedelta(days=32)).replace(day=1)


def zone_of(name: str) -> dt.tzinfo:
    """Return the time zone of a name that `check_time_zone` accepts; "" and Local are UTC."""
    return dt.UTC if name in ("", "UTC", "Local") else ZoneInfo(name)


def _number(text: str) -> int:
    try:
        number = parse_integer(text, function="Atoi")
    except ValueError as error:
        raise ValueError(f"failed to parse int from {text}: {error}") from None
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number


def _number_or_name(text: str, names: dict[str, int]) -> int:
    number = names.get(text.lower())
    return _number(text) if number is None else number


def _range(text: str, bounds: _Bounds) -> CronField:
    span, *steps = text.split("/")
    limits = span.split("-")
    star = limits[0] in ("*", "?")
    if star:
        start, end = bounds.low, bounds.high
    else:
        start = end = _number_or_name(limits[0], bounds.names)
        if len(limits) == 2:
            end = _number_or_name(limits[1], bounds.names)
        elif len(limits) > 2:
            raise ValueError(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0])
        end = bounds.high if len(limits) == 1 else end
        star = star and step <= 1
    elif steps:
        raise ValueError(f"too many slashes: {text}")
    if start < bounds.low:
        raise ValueError(f"beginning of range ({start}) below minimum ({bounds.low}): {text}")
    if end > bounds.high:
        raise ValueError(f"end of range ({end}) above maximum ({bounds.high}): {text}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {text}")
    return CronField(frozenset(range(start, end + 1, step)), star)


def _field(text: str, bounds: _Bounds) -> CronField:
    ranges = [_range(part, bounds) for part in text.split(",") if part]
    return CronField(frozenset().union(*(r.values for r in ranges)), any(r.star for r in ranges))


def check_time_zone(name: str) -> None:
    """Check that a name is an IANA time zone, UTC, "" or Local. Raises `ValueError`."""
    if name in ("", "UTC", "Local"):
        return
    try:
        if ".." in name or name[0] in "/\\":
            raise ValueError(name)
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise ValueError(f"unknown time zone {name}") from None


def _take_time_zone(text: str) -> tuple[str, str]:
    if not text.startswith(("TZ=", "CRON_TZ=")):
        return "", text
    head, space, rest = text.partition(" ")
    if not space:
        raise ValueError(f"a schedule must follow the time zone: {head} * * * * *")
    name = head.partition("=")[2]
    try:
        check_time_zone(name)
    except ValueError as error:
        raise ValueError(f"provided bad location {name}: {error}") from None
    return name, rest.strip()


def parse_schedule(text: str) -> Schedule:
    """Parse a schedule. Raises `ValueError` with the message shown to clients."""
    if not text:
        raise ValueError("empty spec string")
    if len(text) > SCHEDULE_CHARACTERS_MAX:
        raise ValueError(f"schedule of {len(text)} characters, at most {SCHEDULE_CHARACTERS_MAX} are allowed")
    time_zone, text = _take_time_zone(text)
    if text.startswith(_EVERY):
        try:
            return Schedule(every_ns=parse_duration(text[len(_EVERY) :]), time_zone=time_zone)
        except ValueError as error:
            raise ValueError(f"failed to parse duration {text}: {error}") from None
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise ValueError(f"unrecognized descriptor: {text}")
        text = _DESCRIPTORS[text]
    words = text.split()
    if len(words) != len(_BOUNDS):
        raise ValueError(f"expected exactly 5 fields, found {len(words)}: [{' '.join(words)}]")
    return Schedule(tuple(map(_field, words, _BOUNDS)), time_zone=time_zone)

"""When a CronJob is due, by its schedule, its time zone, and what it has started last.

Source: kube-controller-manager pkg/controller/cronjob/utils.go (1.36).
"""

import datetime as dt
from typing import Final, NamedTuple

from sampan.core.cron import Schedule, check_time_zone, parse_schedule
from sampan.core.time import add_seconds, parse_time
from sampan.resource import Object, meta

MANY: Final = 100
"""A CronJob that has missed more starts than this is told so."""
_WALKED: Final = dt.timedelta(minutes=2)
PADDING_S: Final = 0.1
"""So much later than due a CronJob is looked at, as clocks differ a little."""


class ScheduleError(ValueError):
    """A schedule can be read, but makes no sense: it never comes, or not again."""


class Missed(NamedTuple):
    """The latest time that is due and was not started, and about how many are."""

    latest: dt.datetime | None
    starts: int = 0


def schedule_of(cron_job: Object) -> Schedule:
    """The schedule, by the clocks of its time zone. Raises `ValueError` for what cannot be read."""
    text, zone = cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone")
    if "TZ" in text or zone is None:
        return parse_schedule(text)
    try:
        check_time_zone(zone)
    except ValueError:
        return parse_schedule(text)
    return parse_schedule(f"TZ={zone} {text}")


def says_zone(cron_job: Object) -> bool:
    """Whether the schedule's text names a time zone, which Kubernetes does but does not promise to understand."""
    return "TZ" in cron_job["spec"]["schedule"]


def last_start(cron_job: Object) -> dt.datetime:
    """The time that was started last; of a CronJob that has started nothing when it was made."""
    last = (cron_job.get("status") or {}).get("lastScheduleTime")
    return parse_time(last or meta(cron_job).creation_timestamp or "1970-01-01T00:00:00Z")


def deadline_s(cron_job: Object) -> int | None:
    """Return by how many seconds a start may be late; None if there is no limit."""
    seconds: int | None = cron_job["spec"].get("startingDeadlineSeconds")
    return seconds


def due(cron_job: Object, schedule: Schedule, now: dt.datetime) -> Missed:
    """What is to be started now, at most. Raises `ScheduleError`."""
    since, late_s = last_start(cron_job), deadline_s(cron_job)
    return missed(schedule, since if late_s is None else max(since, add_seconds(now, -late_s)), now)


def wait_s(cron_job: Object, schedule: Schedule, now: dt.datetime) -> float | None:
    """The seconds until the next start is due; None when none is to come."""
    since = last_start(cron_job)
    try:
        latest, count = missed(schedule, since, now)
        base = latest or (now if count else since)
    except ScheduleError:
        base = now
    coming = schedule.next_after(base)
    return None if coming is None else max((coming - now).total_seconds(), 0.0) + PADDING_S


def missed(schedule: Schedule, since: dt.datetime, now: dt.datetime) -> Missed:
    """The latest time after `since` and not after `now`, and about how many there are. Raises `ScheduleError`.

    The number is that of the first interval between two times, so that it is soon found, however long `since` is ago;
    it is 0 while there is one alone.
    """
    first = schedule.next_after(since)
    if first is not None and now < first:
        return Missed(None)
    second = None if first is None else schedule.next_after(first)
    if first is None or second is None:
        raise ScheduleError("time difference between two schedules is less than 1 second")
    if now < second:
        return Missed(first)
    interval = second - first
    count = (now - first) // interval + 1
    return Missed(_latest(schedule, first + (count - 2) * interval, now), count)


def _latest(schedule: Schedule, since: dt.datetime, now: dt.datetime) -> dt.datetime | None:
    """Return the latest time after `since` and not after `now`.

    The first interval may be a year and all later ones a minute (`* * * 1 *`): the time is found by halving, not by
    walking through half a million minutes.
    """
    begin, end = since, now
    while not schedule.every_ns and end - begin > _WALKED:
        middle = begin + (end - begin) / 2
        coming = schedule.next_after(middle)
        if coming is not None and coming <= now:
            begin = middle
        else:
            end = middle
    latest: dt.datetime | None = None
    coming = schedule.next_after(begin)
    while coming is not None and coming <= now:
        latest, coming = coming, schedule.next_after(coming)
    return latest

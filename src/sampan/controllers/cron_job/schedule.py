"""Start times of a CronJob, from its schedule, its time zone and its last start.

Source: kube-controller-manager pkg/controller/cronjob/utils.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Final, NamedTuple

from sampan.core.cron import Schedule, check_time_zone, parse_schedule
from sampan.core.time import add_seconds, parse_time
from sampan.kinds import batch_v1
from sampan.resource import meta

MANY: Final = 100
"""Number of missed starts above which a warning event is recorded."""
PADDING_S: Final = 0.1
"""Delay after the due time before a CronJob is reconciled, because clocks differ a little."""


_parsed = lru_cache(maxsize=1024)(parse_schedule)
"""Parsed schedules by their texts: a CronJob is reconciled much more often than its schedule changes."""


class ScheduleError(ValueError):
    """A well-formed schedule has no due time after the last start, or only one."""


class Missed(NamedTuple):
    """The latest due time that was not started, and the approximate number of missed times."""

    latest: dt.datetime | None
    starts: int = 0


def schedule_of(cron_job: batch_v1.CronJob) -> Schedule:
    """Parse the schedule in its time zone. Raises `ValueError` for a malformed one."""
    text, zone = cron_job["spec"]["schedule"], cron_job["spec"].get("timeZone")
    if "TZ" in text or zone is None:
        return _parsed(text)
    try:
        check_time_zone(zone)
    except ValueError:
        return _parsed(text)
    return _parsed(f"TZ={zone} {text}")


def names_zone(cron_job: batch_v1.CronJob) -> bool:
    """Return True if the schedule's text names a time zone. Kubernetes accepts that without supporting it."""
    return "TZ" in cron_job["spec"]["schedule"]


def last_start(cron_job: batch_v1.CronJob) -> dt.datetime:
    """Return the scheduled time of the last start, or the creation time if there is none."""
    last = (cron_job.get("status") or {}).get("lastScheduleTime")
    return parse_time(last or meta(cron_job).creation_timestamp or "1970-01-01T00:00:00Z")


def deadline_s(cron_job: batch_v1.CronJob) -> int | None:
    """Return the number of seconds by which a start may be late; None if there is no limit."""
    seconds: int | None = cron_job["spec"].get("startingDeadlineSeconds")
    return seconds


def due(cron_job: batch_v1.CronJob, schedule: Schedule, now: dt.datetime) -> Missed:
    """Return the times that are due now, within the starting deadline. Raises `ScheduleError`."""
    since, late_s = last_start(cron_job), deadline_s(cron_job)
    return missed(schedule, since if late_s is None else max(since, add_seconds(now, -late_s)), now)


def wait_s(cron_job: batch_v1.CronJob, schedule: Schedule, now: dt.datetime) -> float | None:
    """Return the seconds until the next start, or None if there is none."""
    since = last_start(cron_job)
    try:
        latest, count = missed(schedule, since, now)
        # With uneven intervals the latest time may not be found although starts were missed.
        base = latest or (now if count else since)
    except ScheduleError:
        base = now
    coming = schedule.next_after(base)
    return None if coming is None else max((coming - now).total_seconds(), 0.0) + PADDING_S


def missed(schedule: Schedule, since: dt.datetime, now: dt.datetime) -> Missed:
    """Return the latest due time after `since` and not after `now`, and the approximate number of due times.

    The number is estimated from the first interval, so the cost does not depend on the age of `since`. It is 0 if there
    is only one due time. Raises `ScheduleError`.
    """
    first = schedule.next_after(since)
    if first is not None and now < first:
        return Missed(None)
    second = None if first is None else schedule.next_after(first)
    if first is None or second is None:
        raise ScheduleError("time difference between two schedules is less than 1 second")
    if now < second:
        return Missed(first)
    # The search starts one interval before the estimated latest time.
    interval = second - first
    count = (now - first) // interval + 1
    return Missed(schedule.latest(first + (count - 2) * interval, now), count)

"""Next times of cron schedules: tables, daylight saving time, and a model that tries every minute."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.cron import parse_schedule


def at(text: str) -> dt.datetime:
    """Parse an instant."""
    return dt.datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
        ("* * * * *", "2026-01-01T00:00:59.5Z", "2026-01-01T00:01:00Z"),
        ("*/15 * * * *", "2026-01-01T00:15:00Z", "2026-01-01T00:30:00Z"),
        ("5 4 * * sun", "2026-01-01T00:00:00Z", "2026-01-04T04:05:00Z"),
        ("0 0 1 JAN *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2025-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("0 0 13 * *", "2026-01-01T00:00:00Z", "2026-01-13T00:00:00Z"),
        ("0 0 */2 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("@hourly", "2026-01-01T00:00:01Z", "2026-01-01T01:00:00Z"),
        ("@daily", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
        ("@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
        ("@yearly", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("@every 1h30m", "2026-01-01T00:00:07.25Z", "2026-01-01T01:30:07Z"),
        ("@every 1500ms", "2026-01-01T00:00:07Z", "2026-01-01T00:00:08Z"),
        ("@every 1ms", "2026-01-01T00:00:07Z", "2026-01-01T00:00:08Z"),
    ],
)
def test_next_time_after_an_instant(schedule: str, after: str, due: str) -> None:
    assert parse_schedule(schedule).next_after(at(after)) == at(due)


def test_search_for_a_day_that_never_comes_ends() -> None:
    assert parse_schedule("59 23 31 2 *").next_after(at("2026-01-01T00:00:00Z")) is None


@pytest.mark.parametrize(
    ("schedule", "zone", "after", "due"),
    [
        ("30 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", "2026-01-01T04:00:00Z"),
        ("0 0 * * *", "America/New_York", "2026-07-01T00:00:00Z", "2026-07-01T04:00:00Z"),
        # Berlin, 29 March: 02:30 is not shown; 25 October: 02:30 is shown twice.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        # Cairo, 24 April: clocks go from 00:00 to 01:00, so there is no midnight.
        ("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-24T21:00:00Z"),
        ("0 1 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"),
        # Lord Howe: half an hour forward on 4 October at 02:00.
        ("45 2 4 10 *", "Australia/Lord_Howe", "2026-10-01T00:00:00Z", "2026-10-03T15:45:00Z"),
    ],
)
def test_next_time_in_a_time_zone(schedule: str, zone: str, after: str, due: str) -> None:
    assert parse_schedule(f"TZ={zone} {schedule}").next_after(at(after)) == at(due)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    """Return the text of a field: a star, a step, a number or a range."""
    number = st.integers(low, high)
    spans = st.tuples(number, number).map(sorted)
    return st.one_of(
        st.just("*"),
        st.integers(1, high).map(lambda step: f"*/{step}"),
        number.map(str),
        spans.map(lambda span: f"{span[0]}-{span[1]}"),
        st.lists(number, min_size=2, max_size=4).map(lambda some: ",".join(map(str, some))),
    )


def allows(text: str, value: int, low: int, high: int) -> bool:
    """Parse a field for the model."""
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = ("*", "", "") if span == "*" else span.partition("-")
        begin, end = (low, high) if first == "*" else (int(first), int(last or first))
        if value in range(begin, end + 1, int(step or 1)):
            return True
    return False


def fits(fields: list[str], local: dt.datetime) -> bool:
    """Report whether a local time matches in the model."""
    minute, hour, day, month, weekday = fields
    in_month, in_week = allows(day, local.day, 1, 31), allows(weekday, local.isoweekday() % 7, 0, 6)
    starred = day in ("*", "*/1") or weekday in ("*", "*/1")
    return (
        allows(minute, local.minute, 0, 59)
        and allows(hour, local.hour, 0, 23)
        and allows(month, local.month, 1, 12)
        and (in_month and in_week if starred else in_month or in_week)
    )


ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu")
CHANGES = ("2026-03-08T00:00Z", "2026-03-28T12:00Z", "2026-04-04T00:00Z", "2026-04-23T12:00Z", "2026-10-24T12:00Z")


@given(
    fields=st.tuples(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6)).map(list),
    zone=st.sampled_from(ZONES),
    begin=st.sampled_from(CHANGES),
    offset_s=st.integers(0, 36 * 3600),
)
def test_next_time_agrees_with_a_model_that_tries_every_minute(
    fields: list[str], zone: str, begin: str, offset_s: int
) -> None:
    after = at(begin) + dt.timedelta(seconds=offset_s)
    due = parse_schedule(f"TZ={zone} {' '.join(fields)}").next_after(after)
    minute = after.replace(second=0) + dt.timedelta(minutes=1)
    for _ in range(24 * 60):
        if fits(fields, minute.astimezone(ZoneInfo(zone))):
            assert due == minute
            return
        minute += dt.timedelta(minutes=1)
    assert due is None or (due >= minute and fits(fields, due.astimezone(ZoneInfo(zone))))


def test_a_very_long_schedule_is_refused() -> None:
    with pytest.raises(ValueError, match="schedule of 20008 characters, at most 4096 are allowed"):
        parse_schedule(f"{','.join(['*'] * 10_000)} * * * **")


@pytest.mark.parametrize(
    ("schedule", "since", "until", "latest"),
    [
        pytest.param("0 * * * *", "2030-01-01T00:30:00Z", "2030-01-03T05:59:59Z", "2030-01-03T05:00:00Z", id="days"),
        pytest.param("0 * * * *", "2030-01-01T05:00:00Z", "2030-01-01T05:59:59Z", None, id="none"),
        pytest.param("* * * 1 *", "2029-06-01T00:00:00Z", "2030-02-01T00:00:00Z", "2030-01-31T23:59:00Z", id="uneven"),
        pytest.param("@every 1h", "2030-01-01T00:10:00Z", "2030-01-01T03:00:00Z", "2030-01-01T02:10:00Z", id="every"),
    ],
)
def test_latest_time_between_two_instants(schedule: str, since: str, until: str, latest: str | None) -> None:
    assert parse_schedule(schedule).latest(at(since), at(until)) == (at(latest) if latest else None)

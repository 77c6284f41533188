"""Timestamps, durations and ages."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core import time

LAYOUT = '"2006-01-02T15:04:05Z07:00"'
MICRO_LAYOUT = '"2006-01-02T15:04:05.000000Z07:00"'


def test_timestamps_are_utc_seconds() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    assert time.format_time(dt.datetime(2020, 1, 2, 3, 4, 5, 999999, zone)) == "2020-01-02T01:04:05Z"


def test_micro_timestamps_have_six_digits() -> None:
    assert time.format_micro_time(dt.datetime(2020, 1, 2, 3, 4, 5, 0, dt.UTC)) == "2020-01-02T03:04:05.000000Z"


def test_system_clock_is_utc() -> None:
    assert time.SystemClock().now().tzinfo is dt.UTC


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05+02:00", "2020-01-02T01:04:05Z"),
        ("2020-01-02T03:04:05-00:30", "2020-01-02T03:34:05Z"),
        ("2020-01-02T03:04:05.999Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T03:04:05,5Z", "2020-01-02T03:04:05Z"),
        ("2020-01-02T3:04:05Z", "2020-01-02T03:04:05Z"),
        ("2020-02-29T23:59:59Z", "2020-02-29T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_timestamps_become_canonical(text: str, shown: str) -> None:
    assert time.canonical_time(text) == shown


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", f'parsing time "" as {LAYOUT}: cannot parse "" as "2006"'),
        ("foo", f'parsing time "foo" as {LAYOUT}: cannot parse "foo" as "2006"'),
        ("2020-01-02", f'parsing time "2020-01-02" as {LAYOUT}: cannot parse "" as "T"'),
        (
            "2020-01-02 03:04:05Z",
            f'parsing time "2020-01-02 03:04:05Z" as {LAYOUT}: cannot parse " 03:04:05Z" as "T"',
        ),
        ("2020-01-02T03:04:05", f'parsing time "2020-01-02T03:04:05" as {LAYOUT}: cannot parse "" as "Z07:00"'),
        ("2020-13-02T03:04:05Z", 'parsing time "2020-13-02T03:04:05Z": month out of range'),
        ("2021-02-29T03:04:05Z", 'parsing time "2021-02-29T03:04:05Z": day out of range'),
        ("2020-01-02T24:04:05Z", 'parsing time "2020-01-02T24:04:05Z": hour out of range'),
        ("2020-01-02T03:60:05Z", 'parsing time "2020-01-02T03:60:05Z": minute out of range'),
        ("2020-01-02T03:04:60Z", 'parsing time "2020-01-02T03:04:60Z": second out of range'),
        ("2020-01-02T03:04:05Zx", 'parsing time "2020-01-02T03:04:05Zx": extra text: "x"'),
        (
            "2020-01-02T03:04:05+25:00",
            'parsing time "2020-01-02T03:04:05+25:00": time zone offset hour out of range',
        ),
        ('"', f'parsing time "\\"" as {LAYOUT}: cannot parse "\\"" as "2006"'),
        ("é", f'parsing time "\\xc3\\xa9" as {LAYOUT}: cannot parse "\\xc3\\xa9" as "2006"'),
    ],
)
def test_invalid_timestamps_are_rejected_with_the_messages_of_go(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="parsing time") as caught:
        time.parse_time(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("text", "rest", "element"),
    [
        ("2020-01-02T03:04:05Z", "Z", ".000000"),
        ("2020-01-02T03:04:05.123Z", ".123Z", ".000000"),
        ("2020-01-02T03:04:05.1234567Z", "7Z", "Z07:00"),
    ],
)
def test_micro_timestamps_require_exactly_six_digits(text: str, rest: str, element: str) -> None:
    with pytest.raises(ValueError, match="parsing time") as caught:
        time.parse_micro_time(text)
    assert str(caught.value) == f'parsing time "{text}" as {MICRO_LAYOUT}: cannot parse "{rest}" as "{element}"'


def test_micro_timestamps_become_canonical() -> None:
    assert time.canonical_micro_time("2020-01-02T03:04:05.123456+01:00") == "2020-01-02T02:04:05.123456Z"


instants = st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), timezones=st.just(dt.UTC))


@given(instants)
def test_timestamps_round_trip_to_the_second(instant: dt.datetime) -> None:
    assert time.parse_time(time.format_time(instant)) == instant.replace(microsecond=0)


@given(instants)
def test_micro_timestamps_round_trip(instant: dt.datetime) -> None:
    assert time.parse_micro_time(time.format_micro_time(instant)) == instant


def changed(text: str, position: int, insert: str) -> str:
    at = position % (len(text) + 1)
    return text[:at] + insert + text[at + len(insert) :]


LETTERS = "0123456789-+:.,TZ x"
# Text alone is hardly ever a time.
NEAR_TIMES = st.builds(
    changed, instants.map(time.format_micro_time), st.integers(0, 30), st.text(alphabet=LETTERS, max_size=3)
)


@given(st.text(alphabet=LETTERS, max_size=30) | NEAR_TIMES)
def test_parsing_time_raises_only_value_error(text: str) -> None:
    for parse in (time.parse_time, time.parse_micro_time):
        try:
            assert parse(text).tzinfo is dt.UTC
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0", "0s"),
        ("1h30m", "1h30m0s"),
        ("1.5s", "1.5s"),
        ("100ms", "100ms"),
        ("90s", "1m30s"),
        ("-1.5h", "-1h30m0s"),
        ("+5s", "5s"),
        ("1us", "1µs"),
        ("1µs", "1µs"),
        ("1ns", "1ns"),
        ("1500us", "1.5ms"),
        (".5m", "30s"),
        ("1h1h", "2h0m0s"),
        ("2540400h10m10.000000000s", "2540400h10m10s"),
    ],
)
def test_durations_become_canonical(text: str, shown: str) -> None:
    assert time.canonical_duration(text) == shown


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        (".s", 'time: invalid duration ".s"'),
        ("1h ", 'time: unknown unit "h " in duration "1h "'),
        ("9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
    ],
)
def test_invalid_durations_are_rejected_with_the_messages_of_go(text: str, error: str) -> None:
    with pytest.raises(ValueError, match="time: ") as caught:
        time.parse_duration(text)
    assert str(caught.value) == error


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_durations_round_trip(duration_ns: int) -> None:
    assert time.parse_duration(time.format_duration(duration_ns)) == duration_ns


@given(st.text(alphabet="0123456789.hmsnuµ-+ ", max_size=40))
def test_parsing_durations_raises_only_value_error(text: str) -> None:
    try:
        assert isinstance(time.parse_duration(text), int)
    except ValueError:
        return


MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 365 * 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (59.9, "59s"),
        (119, "119s"),
        (120, "2m"),
        (9 * MINUTE + 59, "9m59s"),
        (10 * MINUTE + 30, "10m"),
        (179 * MINUTE, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + 5 * MINUTE, "3h5m"),
        (8 * HOUR + 5 * MINUTE, "8h"),
        (47 * HOUR, "47h"),
        (48 * HOUR, "2d"),
        (50 * HOUR, "2d2h"),
        (8 * DAY + HOUR, "8d"),
        (729 * DAY, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 3 * DAY, "2y3d"),
        (8 * YEAR + 3 * DAY, "8y"),
    ],
)
def test_ages_for_people(seconds: float, text: str) -> None:
    assert time.human_duration(seconds) == text


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("rubbish", "<invalid>"),
        ("2020-01-01T00:00:00Z", "5m"),
        ("2020-01-01T00:06:00Z", "<invalid>"),
    ],
)
def test_age_cells(timestamp: str | None, shown: str) -> None:
    assert time.age(timestamp, dt.datetime(2020, 1, 1, 0, 5, tzinfo=dt.UTC)) == shown


@pytest.mark.parametrize(
    ("seconds", "instant"),
    [(5, "2026-01-01T00:00:05Z"), (2**63 - 1, "9999-12-31T23:59:59Z"), (-(2**63), "0001-01-01T00:00:00Z")],
)
def test_added_seconds_stop_at_the_ends_of_the_calendar(seconds: int, instant: str) -> None:
    assert time.format_time(time.add_seconds(dt.datetime(2026, 1, 1, tzinfo=dt.UTC), seconds)) == instant


@pytest.mark.parametrize("text", ["1." + "9" * 1_000_000 + "s", "0" * 1_000_000 + "1s", "1ns" * 300_000])
def test_long_durations_are_parsed_in_linear_time(text: str) -> None:
    assert time.parse_duration(text) > 0


@pytest.mark.parametrize("text", ["9" * 1_000_000 + "h", "2562048h"])
def test_duration_of_more_than_64_bits_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"^time: invalid duration "):
        time.parse_duration(text)

"""String formats accept and reject the same texts as Kubernetes' validators."""

import pytest

from sampan.schema.validation.formats import is_known, string_format

GOOD = {
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "uri": ["http://a/b?c=d", "/path", "mailto:a@b.c"],
    "email": ["a@b.c", "Me <a@b.c>"],
    "hostname": ["localhost", "a.example.com", "1a.example.com", "a-"],
    "ipv4": ["1.2.3.4", "01.2.3.4"],
    "ipv6": ["::1", "fe80::1", "::ffff:1.2.3.4"],
    "cidr": ["10.0.0.0/8", "::/0"],
    "mac": ["00:00:5e:00:53:01", "02-00-5e-10-00-00-00-01", "0000.5e00.5301"],
    "uuid": ["A2963DA2-1234-5678-9abc-000000000000", "a2963da2123456789abc000000000000"],
    "uuid3": ["a2963da2-1234-3678-9abc-000000000000"],
    "uuid4": ["a2963da2-1234-4678-9abc-000000000000"],
    "uuid5": ["a2963da2-1234-5678-9abc-000000000000"],
    "isbn": ["0321751043", "978-0321751041"],
    "isbn10": ["0321751043", "080442957X"],
    "isbn13": ["978-0321751041"],
    "creditcard": ["4111-1111-1111-1111"],
    "ssn": ["111-11-1111", "111 11 1111"],
    "hexcolor": ["#FFFFFF", "abc"],
    "rgbcolor": ["rgb(255, 0,10)"],
    "byte": ["YQ==", "YWJj"],
    "password": ["", "anything"],
    "date": ["2024-02-29"],
    "duration": ["1h30m", "22 ns", "3 days"],
    "date-time": ["2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20+01:00"],
    "k8s-short-name": ["a-b", "1"],
    "k8s-long-name": ["a.b-c.d"],
}
BAD = {
    "bsonobjectid": ["507f", "z07f1f77bcf86cd799439011"],
    "uri": ["", "a b", "a/b", "1://a"],
    "email": ["a", "a@", "@b.c"],
    "hostname": ["", "a_b", "-a.com", "a.b1", "a" * 64 + ".com"],
    "ipv4": ["1.2.3", "1.2.3.256", "::1"],
    "ipv6": ["1.2.3.4", ":::", "fe80::1%eth0"],
    "cidr": ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1"],
    "mac": ["00:00", "00:00:5e:00:53:0g", "00:00-5e:00:53:01"],
    "uuid": ["a2963da2"],
    "uuid3": ["a2963da2-1234-4678-9abc-000000000000"],
    "uuid4": ["a2963da2-1234-4678-1abc-000000000000"],
    "uuid5": ["a2963da2-1234-4678-9abc-000000000000"],
    "isbn": ["0321751044"],
    "isbn10": ["X321751043"],
    "isbn13": ["978-0321751042"],
    "creditcard": ["4111-1111-1111-1112"],
    "ssn": ["1111-11-111"],
    "hexcolor": ["#FFFF"],
    "rgbcolor": ["rgb(256,0,0)", "rgb(01,0,0)"],
    "byte": ["", "YQ=", "!"],
    "date": ["2023-02-29", "24-01-01"],
    "duration": ["", "x", "3 fortnights"],
    "date-time": ["2014", "2014-12-15T24:00:00Z", "2014-12-15T19:30:20"],
    "k8s-short-name": ["A", "-a", "a" * 64],
    "k8s-long-name": ["a..b", "A.b"],
}


def rows(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, text) for name, texts in table.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), rows(GOOD))
def test_text_has_the_format(name: str, text: str) -> None:
    check = string_format(name)
    assert check is not None
    assert check(text)


@pytest.mark.parametrize(("name", "text"), rows(BAD))
def test_text_does_not_have_the_format(name: str, text: str) -> None:
    check = string_format(name)
    assert check is not None
    assert not check(text)


@pytest.mark.parametrize(
    ("name", "type_", "known"),
    [
        ("ipv4", "string", True),
        ("ipv4", "", True),
        ("ipv4", "integer", False),
        ("int32", "integer", True),
        ("int32", "string", False),
        ("double", "number", True),
        ("unheard-of", "string", False),
        ("date", "object", False),
    ],
)
def test_format_is_defined_for_a_type(name: str, type_: str, known: bool) -> None:
    assert is_known(name, type_) is known


SKIPS_SPACE = frozenset(("password", "duration", "isbn", "isbn10", "isbn13", "creditcard"))
"""Formats whose checks in Go skip white space, or that accept any text."""


@pytest.mark.parametrize(("name", "text"), [row for row in rows(GOOD) if row[0] not in SKIPS_SPACE])
def test_a_newline_at_the_end_is_not_part_of_a_format(name: str, text: str) -> None:
    check = string_format(name)
    assert check is not None
    assert check(text)
    assert not check(f"{text}\n")

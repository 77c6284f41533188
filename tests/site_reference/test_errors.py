"""Page of errors: each reason, cause and exception has an entry, and no entry is left over."""

import re
from collections.abc import Iterator

import pytest
from scripts.site.reference.errors import CODES, PAGE, class_of, described_exceptions
from scripts.site.reference.exceptions import exceptions

from sampan import client, operator, testing
from sampan.core import errors
from sampan.core.errors import Reason, StatusError
from sampan.core.explanations.entries import texts
from sampan.core.field import ErrorType
from sampan.core.gvk import GroupKind, GroupResource
from tests.site_reference.generated import generated, headings

PODS = GroupResource("", "pods")
MADE = (
    errors.not_found(PODS, "a"),
    errors.already_exists(PODS, "a"),
    errors.conflict(PODS, "a", ""),
    errors.invalid(GroupKind("", "Pod"), "a", []),
    errors.bad_request(""),
    errors.unauthorized(),
    errors.forbidden(PODS, "a", ""),
    errors.method_not_allowed(),
    errors.not_acceptable(""),
    errors.gone(""),
    errors.expired(""),
    errors.request_entity_too_large(""),
    errors.unsupported_media_type(""),
    errors.too_many_requests("", 1),
    errors.internal_error(""),
    errors.server_timeout(PODS, "get", 1),
    errors.service_unavailable(""),
    errors.timeout(""),
)
WORDS_MAX = 25


def test_each_reason_has_an_entry() -> None:
    assert set(texts()["reasons"]) == {str(each) for each in Reason if each}


def test_each_reason_has_the_status_of_its_errors() -> None:
    assert {each.reason: each.code for each in MADE} == CODES


def test_each_cause_has_an_entry() -> None:
    assert set(texts()["causes"]) == {str(each) for each in ErrorType}


def test_each_exception_has_an_entry() -> None:
    assert {each.key for each in described_exceptions()} == set(texts()["exceptions"])


@pytest.mark.parametrize("package", [client, operator, testing], ids=lambda package: str(package.__name__))
def test_each_public_exception_is_found(package: object) -> None:
    names = {name for name in vars(package)["__all__"] if is_exception(getattr(package, name))}
    known = {each.name for each in exceptions()}
    assert names - known == set()


def is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException) and value is not StatusError


def test_the_class_of_a_reason_is_public() -> None:
    assert [reason for reason in CODES if class_of(reason) not in client.__all__] == []


def test_each_entry_is_on_the_page() -> None:
    titles = {title.rpartition(".")[2] for _, title in headings(generated()[PAGE])}
    expected = {str(reason) for reason in CODES} | {each.name for each in described_exceptions()}
    assert expected - titles == set()


def sentences() -> Iterator[str]:
    for entries in texts().values():
        for entry in entries.values():
            assert set(entry) == {"cause", "cure"}
            yield from re.split(r"(?<=[.:]) ", f"{entry['cause']} {entry['cure']}")


def test_the_sentences_are_short() -> None:
    assert [each for each in sentences() if len(each.split()) > WORDS_MAX] == []

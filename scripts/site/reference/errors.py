"""Page of the errors: reasons of the API and exceptions of the toolkit, each with its cause and its cure.

The texts are those of `sampan errors`. The names, codes and classes come from the code.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Final

from scripts.site.reference.exceptions import ToolkitException, exceptions
from scripts.site.reference.markdown import code, document, link, plain, table

from sampan.client.errors import api_error
from sampan.core.errors import Reason
from sampan.core.explanations.entries import texts
from sampan.core.field import ErrorType

PAGE: Final = "reference/errors.md"
CODES: Final = {
    Reason.BAD_REQUEST: 400,
    Reason.UNAUTHORIZED: 401,
    Reason.FORBIDDEN: 403,
    Reason.NOT_FOUND: 404,
    Reason.METHOD_NOT_ALLOWED: 405,
    Reason.NOT_ACCEPTABLE: 406,
    Reason.ALREADY_EXISTS: 409,
    Reason.CONFLICT: 409,
    Reason.GONE: 410,
    Reason.EXPIRED: 410,
    Reason.REQUEST_ENTITY_TOO_LARGE: 413,
    Reason.UNSUPPORTED_MEDIA_TYPE: 415,
    Reason.INVALID: 422,
    Reason.TOO_MANY_REQUESTS: 429,
    Reason.INTERNAL_ERROR: 500,
    Reason.SERVER_TIMEOUT: 500,
    Reason.SERVICE_UNAVAILABLE: 503,
    Reason.TIMEOUT: 504,
}
"""HTTP status of each reason. A test compares it with the functions that make errors."""
_ABOUT: Final = """
A failed request has a `Status` as its body. Its `reason` is one of these, and programs compare it. Clients of the
toolkit raise the class that is named. `sampan errors NAME` prints an entry of this page in a terminal.
"""
_ABOUT_CAUSES: Final = """
An error of a field is an entry of `details.causes`: its reason, the path of the field, and a message.
"""
Entry = Mapping[str, str]


def class_of(reason: Reason) -> str:
    """Return the name of the class in `sampan.client` for a reason."""
    return type(api_error({"reason": reason, "code": CODES[reason]})).__name__


def described_exceptions() -> list[ToolkitException]:
    """Return the exceptions that need an entry of their own. The classes of reasons are described with these."""
    of_reasons = {f"sampan.client.{class_of(reason)}" for reason in CODES}
    return [each for each in exceptions() if each.key not in of_reasons]


def errors_page() -> str:
    """Return the page."""
    return document([*_reasons(), *_causes(), *_exceptions()])


def _reasons() -> Iterator[str]:
    yield from ("# Errors", "", " ".join(_ABOUT.split()), "", "## Reasons of the API", "")
    rows = [(f"[{reason}](#{reason.lower()})", str(status)) for reason, status in CODES.items()]
    yield from (*table(("reason", "status"), rows), "")
    for reason, status in CODES.items():
        name = class_of(reason)
        raised = link(code(f"sampan.client.{name}"), f"reference/sampan.client.md#{name.lower()}", PAGE)
        yield from (f"### {reason}", "", f"Status {status}, in Python {raised}.", "")
        yield from _text(texts()["reasons"][reason])


def _causes() -> Iterator[str]:
    yield from ("## Causes in the details", "", " ".join(_ABOUT_CAUSES.split()), "")
    entries = texts()["causes"]
    rows = [(code(each), plain(entries[each]["cause"]), plain(entries[each]["cure"])) for each in ErrorType]
    yield from (*table(("reason", "cause", "cure"), rows), "")


def _exceptions() -> Iterator[str]:
    for section, members in groupby(described_exceptions(), key=lambda each: each.section):
        yield from (f"## Exceptions of {section}", "")
        for each in members:
            # Two classes of one name need different headings.
            same = [other for other in exceptions() if other.name == each.name]
            yield from (f"### {each.name if len(same) == 1 else each.key}", "")
            place = code(each.key if each.package else f"{each.module}.{each.name}")
            if each.package:
                place = link(place, f"reference/{each.package}.md#{each.name.lower()}", PAGE)
            bases = ", ".join(code(base) for base in each.bases)
            yield from (f"{place}, a subclass of {bases}.", "", *_text(texts()["exceptions"][each.key]))


def _text(entry: Entry) -> Iterator[str]:
    yield from (f"**Cause.** {plain(entry['cause'])}", "", f"**Cure.** {plain(entry['cure'])}", "")

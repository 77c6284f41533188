"""Rows of rule tables: checks of one field each, put together as values.

    check_aws_disk = all_of(requires("volumeID"), number("partition", 0, 255, "must be between 1 and 255, inclusive"))
    check_aws_disk(source, path, errors)

A row fits a rule that depends on one field only. Rules over several fields, and rules that end the checks of a field,
are `if` statements: see ADR 29.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from sampan.core.field import Path, invalid
from sampan.registry.rules.fields import Errors, check_required, not_supported

Check = Callable[[Any, Path, Errors], None]
"""Checks an object at a path; adds errors."""


def all_of(*checks: Check) -> Check:
    """Return a check that runs several, in order."""

    def check(source: Mapping[str, Any], path: Path, errors: Errors) -> None:
        for each in checks:
            each(source, path, errors)

    return check


def requires(*names: str) -> Check:
    """Return a check that fields are not empty."""

    def check(source: Mapping[str, Any], path: Path, errors: Errors) -> None:
        check_required(source, names, path, errors)

    return check


def number(name: str, least: float, most: float, text: str) -> Check:
    """Return a check that a number is in a closed range, if it is set."""

    def check(source: Mapping[str, Any], path: Path, errors: Errors) -> None:
        value = source.get(name)
        if value is not None and not least <= value <= most:
            errors.append(invalid(path.child(name), value, text))

    return check


def one_of(name: str, supported: Collection[str]) -> Check:
    """Return a check that a field has one of these values, if it is set. A sequence is shown in its order."""

    def check(source: Mapping[str, Any], path: Path, errors: Errors) -> None:
        value = source.get(name)
        if value is not None and value not in supported:
            errors.append(not_supported(path.child(name), value, supported))

    return check


def within(name: str, inner: Check) -> Check:
    """Return a check of the object in a field, if it is set."""

    def check(source: Mapping[str, Any], path: Path, errors: Errors) -> None:
        value = source.get(name)
        if value is not None:
            inner(value, path.child(name), errors)

    return check

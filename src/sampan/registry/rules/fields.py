"""Field errors and checks of fields that many types share."""

import difflib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from sampan.core.field import ErrorType, FieldError, Path, forbidden, invalid, quote, required
from sampan.core.json.values import same
from sampan.core.validation.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    label_value_errors,
    qualified_name_errors,
)

Errors = list[FieldError]
NOWHERE = Path("[]")
"""Path of the object as a whole, as Go prints a path without a name."""
IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
ANNOTATIONS_BYTES_MAX = 256 * 1024


def not_found_with_detail(path: Path, value: object, detail: str) -> FieldError:
    """Return the error for a reference to a missing object. `detail` describes a valid reference."""
    return FieldError(ErrorType.NOT_FOUND, str(path), value, detail)


def duplicate_with_detail(path: Path, value: object, detail: str) -> FieldError:
    """Return the error for a value that must be unique, with the reason."""
    return FieldError(ErrorType.DUPLICATE, str(path), value, detail)


cached_label_errors = lru_cache(maxsize=4096)(dns1123_label_errors)
"""Cached `dns1123_label_errors`, for names that recur. The list is shared; callers must not change it."""


def check_label(text: str, path: Path, errors: Errors) -> None:
    """Check a DNS-1123 label."""
    errors.extend(invalid(path, text, problem) for problem in dns1123_label_errors(text))


def check_subdomain(text: str, path: Path, errors: Errors) -> None:
    """Check a DNS-1123 subdomain."""
    errors.extend(invalid(path, text, problem) for problem in dns1123_subdomain_errors(text))


def check_qualified_name(text: str, path: Path, errors: Errors) -> None:
    """Check a name with an optional domain, as in label keys."""
    errors.extend(invalid(path, text, problem) for problem in qualified_name_errors(text))


def check_labels(labels: dict[str, str], path: Path, errors: Errors) -> None:
    """Check keys and values of labels. All errors are reported at the path of the map."""
    for key, value in labels.items():
        for text in qualified_name_errors(key):
            errors.append(invalid(path, key, text))
        for text in label_value_errors(value):
            errors.append(invalid(path, value, text))


def check_annotations(annotations: dict[str, str], path: Path, errors: Errors) -> None:
    """Check the keys of annotations and their total size."""
    size = 0
    for key, value in annotations.items():
        size += len(key.encode()) + len(value.encode())
        for text in qualified_name_errors(key.lower()):
            errors.append(invalid(path, key, text))
    if size > ANNOTATIONS_BYTES_MAX:
        errors.append(
            FieldError(ErrorType.TOO_LONG, str(path), "", f"may not be more than {ANNOTATIONS_BYTES_MAX} bytes")
        )


def check_label_selector(
    selector: Mapping[str, Any] | None, path: Path, errors: Errors, *, allow_invalid_values: bool = False
) -> None:
    """Check a LabelSelector. Source: apimachinery pkg/apis/meta/v1/validation/validation.go (1.36)."""
    if not selector:
        return
    if selector.get("matchLabels"):
        check_labels(selector["matchLabels"], path.child("matchLabels"), errors)
    for i, requirement in enumerate(selector.get("matchExpressions", ())):
        at = path.child("matchExpressions").index(i)
        operator, values = requirement.get("operator", ""), requirement.get("values") or []
        if operator in ("In", "NotIn"):
            if not values:
                errors.append(required(at.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.append(forbidden(at.child("values"), detail))
        else:
            errors.append(invalid(at.child("operator"), operator, "not a valid selector operator"))
        check_qualified_name(requirement.get("key", ""), at.child("key"), errors)
        if not allow_invalid_values:
            for j, value in enumerate(values):
                for text in label_value_errors(value):
                    errors.append(invalid(at.child("values").index(j), value, text))


def check_not_negative(value: int, path: Path, errors: Errors) -> None:
    """Check that a number is not negative."""
    if value < 0:
        errors.append(invalid(path, value, NOT_NEGATIVE))


def check_immutable(new: object, old: object, path: Path, errors: Errors) -> None:
    """Check that a value did not change."""
    if not same(new, old):
        errors.append(invalid(path, new, IMMUTABLE))


def check_no_backsteps(text: str, path: Path, errors: Errors) -> None:
    """Check that no segment of a path is `..`."""
    if ".." in text and ".." in text.split("/"):
        errors.append(invalid(path, text, "must not contain '..'"))


def check_local_descending(text: str, path: Path, errors: Errors) -> None:
    """Check a relative path that does not leave its directory."""
    if text.startswith("/"):
        errors.append(invalid(path, text, "must be a relative path"))
    check_no_backsteps(text, path, errors)


def check_local_not_reserved(text: str, path: Path, errors: Errors) -> None:
    """Check a relative path that stays in its directory and does not begin with two dots."""
    check_local_descending(text, path, errors)
    if text.startswith("..") and not text.startswith("../"):
        errors.append(invalid(path, text, "must not start with '..'"))


def check_file_mode(source: Mapping[str, Any], name: str, path: Path, errors: Errors) -> None:
    """Check that a file mode is between 0 and 0777. It may be absent."""
    mode = source.get(name)
    if mode is not None and not 0 <= mode <= 0o777:
        errors.append(invalid(path.child(name), mode, FILE_MODE))


def check_required(source: Mapping[str, Any], names: Iterable[str], path: Path, errors: Errors) -> None:
    """Check that fields are not empty."""
    for name in names:
        if not source.get(name):
            errors.append(required(path.child(name)))


COMPARED_LINES_MAX = 2000
"""Maximum number of lines in a comparison. In longer values, only the first lines that differ are compared."""


def difference(old: object, new: object) -> str:
    """Return a unified diff of the JSON of two values.

    Source: apimachinery pkg/util/diff/diff.go (1.36).
    """
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > COMPARED_LINES_MAX:
        # The comparison is quadratic in the length of the texts, so only the first part that differs is compared.
        pairs = enumerate(zip(before, after, strict=False))
        start = max(next((i for i, (a, b) in pairs if a != b), min(len(before), len(after))) - 3, 0)
        before, after = (lines[start : start + COMPARED_LINES_MAX // 4] for lines in (before, after))
    return "".join(list(difflib.unified_diff(before, after, n=3))[2:])


def _lines(value: object) -> list[str]:
    return [f"{line}\n" for line in json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).split("\n")]


def not_supported(path: Path, value: object, supported: Iterable[str]) -> FieldError:
    """Return the error for a value outside a closed set. A sequence is shown in its order, a set sorted."""
    known = sorted(supported) if isinstance(supported, set | frozenset) else supported
    text = ", ".join(quote(item) for item in known)
    return FieldError(ErrorType.NOT_SUPPORTED, str(path), value, f"supported values: {text}" if text else "")

"""Status errors and field errors in the form for clients."""

import pytest

from sampan.core import errors, field
from sampan.core.field import Path
from sampan.core.gvk import GroupKind, GroupResource

PODS = GroupResource("", "pods")
DEPLOYMENTS = GroupResource("apps", "deployments")


@pytest.mark.parametrize(
    ("error", "reason", "code", "message"),
    [
        (errors.not_found(DEPLOYMENTS, "a"), "NotFound", 404, 'deployments.apps "a" not found'),
        (errors.already_exists(PODS, "a"), "AlreadyExists", 409, 'pods "a" already exists'),
        (
            errors.conflict(PODS, "a", errors.OPTIMISTIC_LOCK_MESSAGE),
            "Conflict",
            409,
            'Operation cannot be fulfilled on pods "a": the object has been modified; '
            "please apply your changes to the latest version and try again",
        ),
        (errors.bad_request("no"), "BadRequest", 400, "no"),
        (errors.unauthorized(), "Unauthorized", 401, "Unauthorized"),
        (errors.forbidden(PODS, "a", "no"), "Forbidden", 403, 'pods "a" is forbidden: no'),
        (errors.forbidden(PODS, "", "no"), "Forbidden", 403, "pods is forbidden: no"),
        (errors.forbidden(GroupResource("", ""), "", "no"), "Forbidden", 403, "forbidden: no"),
        (
            errors.method_not_supported(PODS, "patch"),
            "MethodNotAllowed",
            405,
            'patch is not supported on resources of kind "pods"',
        ),
        (errors.gone("no"), "Gone", 410, "no"),
        (errors.expired("no"), "Expired", 410, "no"),
        (errors.request_entity_too_large("no"), "RequestEntityTooLarge", 413, "Request entity too large: no"),
        (errors.too_many_requests("no", 1), "TooManyRequests", 429, "no"),
        (errors.internal_error("no"), "InternalError", 500, "Internal error occurred: no"),
        (
            errors.server_timeout(PODS, "list", 2),
            "ServerTimeout",
            500,
            "The list operation against pods could not be completed at this time, please try again.",
        ),
        (errors.service_unavailable("no"), "ServiceUnavailable", 503, "no"),
        (errors.timeout("no"), "Timeout", 504, "Timeout: no"),
        (
            errors.too_large_resource_version(9, 5),
            "Timeout",
            504,
            "Timeout: Too large resource version: 9, current: 5",
        ),
    ],
)
def test_reasons_codes_and_messages(error: errors.StatusError, reason: str, code: int, message: str) -> None:
    status = error.to_status()
    assert (status["reason"], status["code"], status["message"]) == (reason, code, message)
    assert status["status"] == "Failure"


def test_details_contain_the_resource() -> None:
    assert errors.not_found(DEPLOYMENTS, "a").to_status()["details"] == {
        "name": "a",
        "group": "apps",
        "kind": "deployments",
    }


def test_empty_details_are_written_as_in_kubernetes() -> None:
    assert errors.timeout("no").to_status()["details"] == {}
    assert "details" not in errors.bad_request("no").to_status()


def test_retry_after() -> None:
    assert errors.generate_name_conflict(PODS, "a").retry_after_s == 1
    assert errors.bad_request("no").retry_after_s == 0


def test_expired_list_has_a_token_to_continue() -> None:
    assert errors.expired("no", continue_token="t").to_status()["metadata"] == {"continue": "t"}


def test_single_error_is_shown_without_brackets() -> None:
    error = errors.invalid(GroupKind("apps", "Deployment"), "a", [field.required(Path("spec", "x"), "why")])
    assert error.message == 'Deployment.apps "a" is invalid: spec.x: Required value: why'
    assert error.to_status()["details"] == {
        "name": "a",
        "group": "apps",
        "kind": "Deployment",
        "causes": [{"reason": "FieldValueRequired", "message": "Required value: why", "field": "spec.x"}],
    }


def test_several_errors_are_in_brackets_without_duplicates() -> None:
    faults = [field.required(Path("a")), field.required(Path("a")), field.duplicate(Path("b"), "x")]
    error = errors.invalid(GroupKind("", "Pod"), "p", faults)
    assert error.message == 'Pod "p" is invalid: [a: Required value, b: Duplicate value: "x"]'
    assert len(error.to_status()["details"]["causes"]) == 3


def test_invalid_without_errors_has_no_causes() -> None:
    assert errors.invalid(GroupKind("", "Pod"), "p", []).message == 'Pod "p" is invalid'


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (Path(), "<nil>"),
        (Path("spec"), "spec"),
        (Path().child("spec"), "spec"),
        (Path("spec").child("a", "b").index(0).key("k").child("c"), "spec.a.b[0][k].c"),
    ],
)
def test_paths_are_formatted(path: Path, shown: str) -> None:
    assert str(path) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ('a"\n', '"a\\"\\n"'),
        (5, "5"),
        (True, "true"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1e6, "1e+06"),
        (0.00001, "1e-05"),
        (None, "null"),
        ({"b": 1, "a": "<"}, '{"a":"\\u003c","b":1}'),
        ([], "[]"),
    ],
)
def test_values_are_formatted_as_in_go(value: object, shown: str) -> None:
    assert str(field.invalid(Path("a"), value, "no")) == f"a: Invalid value: {shown}: no"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("é😀", '"é😀"'),
        ("\x00\x7f", '"\\x00\\x7f"'),
        ("\u200b", '"\\u200b"'),
        ("\\", '"\\\\"'),
        ("\a\b\f\r\t\v", '"\\a\\b\\f\\r\\t\\v"'),
    ],
)
def test_strings_are_quoted_as_in_go(text: str, shown: str) -> None:
    assert field.quote(text) == shown


def test_supported_values_of_a_list_keep_their_order_and_sets_are_sorted() -> None:
    listed = field.not_supported(Path("a"), "x", ("z", "b"))
    assert str(listed) == 'a: Unsupported value: "x": supported values: "z", "b"'
    assert str(field.not_supported(Path("a"), "x", {"z", "b"})).endswith('"b", "z"')


def test_values_can_be_omitted() -> None:
    assert str(field.invalid(Path("a"), field.OMIT_VALUE, "no")) == "a: Invalid value: no"
    assert str(field.too_long(Path("a"), "x", 1)) == "a: Too long: may not be more than 1 byte"
    assert str(field.too_many(Path("a"), 3, 1)) == "a: Too many: 3: must have at most 1 item"

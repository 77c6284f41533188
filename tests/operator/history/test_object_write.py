"""ReconcileWrites of a reconcile, from requests and responses."""

import pytest

from sampan.operator.history.object_write import WRITES_MAX, ObjectWrite, ReconcileWrites, written

RESPONSE = (
    b'{"kind":"Boat","metadata":{"name":"ada","resourceVersion":"7"},"spec":{"metadata":{"resourceVersion":"9"}}}'
)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/api/v1/namespaces/a/pods", ObjectWrite("create", "pods", "a/ada", "7")),
        ("PUT", "/api/v1/namespaces/a/pods/ada/status", ObjectWrite("update", "pods", "a/ada", "7", "status")),
        ("PATCH", "/apis/x.com/v1/namespaces/a/boats/ada", ObjectWrite("patch", "boats.x.com", "a/ada", "7")),
        ("DELETE", "/api/v1/nodes/ada", ObjectWrite("delete", "nodes", "ada", "7")),
        ("PATCH", "/api/v1/namespaces/ada", ObjectWrite("patch", "namespaces", "ada", "7")),
        ("POST", "/metrics", None),
        ("POST", "/api", None),
    ],
)
def test_a_write_names_its_object_and_its_revision(method: str, path: str, expected: ObjectWrite | None) -> None:
    assert written(method, path, RESPONSE) == expected


@pytest.mark.parametrize("response", [b"", b"no JSON", b"[]", b'{"metadata":3}'])
def test_a_response_without_metadata_has_no_revision(response: bytes) -> None:
    assert written("DELETE", "/api/v1/nodes/ada", response) == ObjectWrite("delete", "nodes", "ada", "")


def test_the_list_is_bounded() -> None:
    writes = ReconcileWrites()
    for _ in range(WRITES_MAX + 3):
        writes.add("PATCH", "/api/v1/nodes/ada", RESPONSE)
    assert (len(writes.listed), writes.more) == (WRITES_MAX, 3)

"""`strip_fields`: the fields that it removes, and the bytes that it leaves."""

from collections.abc import Sequence

import pytest

from sampan.informer import strip_fields

META = b'{"metadata":{"name":"a","annotations":{"b.c/d":"1","e":"2"}}'
NUMBERS = b'"big":12345678901234567890123,"f":1.0'
BODY = META + b',"spec":{' + NUMBERS + b',"items":[{"x":1,"y":2},{"y":3},4]}}'


@pytest.mark.parametrize(
    ("paths", "left"),
    [
        ([], BODY),
        (["nonsense", "spec.nonsense", "metadata.labels.x"], BODY),
        (["spec"], META + b"}"),
        (["spec.items", "metadata.annotations"], b'{"metadata":{"name":"a"},"spec":{' + NUMBERS + b"}}"),
        ([("metadata", "annotations", "b.c/d"), "spec"], b'{"metadata":{"name":"a","annotations":{"e":"2"}}}'),
        (["spec.items.y"], BODY.replace(b',"y":2', b"").replace(b'"y":3', b"")),
        (["spec.items.y", "spec.items", "spec.f", "spec.big"], META + b',"spec":{}}'),
        (["spec.items", "spec.items.y", "spec.f", "spec.big"], META + b',"spec":{}}'),
    ],
)
def test_only_the_named_fields_are_removed(paths: Sequence[str | Sequence[str]], left: bytes) -> None:
    assert strip_fields(*paths)(BODY) == left


@pytest.mark.parametrize("path", ["", "spec.", ".spec", ("metadata", "")])
def test_an_empty_name_is_refused(path: str | Sequence[str]) -> None:
    with pytest.raises(ValueError, match="invalid path"):
        strip_fields(path)


@pytest.mark.parametrize("path", ["metadata", "kind", "apiVersion", "metadata.name", "metadata.uid"])
def test_the_identity_of_an_object_stays(path: str) -> None:
    with pytest.raises(ValueError, match="identifies the object"):
        strip_fields(path)

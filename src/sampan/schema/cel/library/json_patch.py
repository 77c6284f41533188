"""`jsonpatch.escapeKey`. Source: apiserver pkg/cel/library/jsonpatch.go (1.36)."""

from sampan.schema.cel.declarations import Library, first_traversal, function, with_cost
from sampan.schema.cel.types import STRING


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


JSON_PATCHES = Library(
    with_cost(
        first_traversal,
        (function("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", (STRING,), STRING, _escape),),
    )
)

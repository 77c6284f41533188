"""Random objects of every message in the codec's table, in the JSON form that Go writes."""

from random import Random
from typing import Any

from sampan.wire.protobuf.table import Field, table

DEPTH_MAX = 4
_INTS = {"int32": 31, "int64": 63}
_TEXTS = ("a", "web-0", "ü€🐍", "x" * 200, 'quoted "text"')
_RAW: tuple[Any, ...] = ({"a": [1, "b", None]}, {"f:metadata": {".": {}}}, {})


def random_object(random: Random, message: str, depth: int = DEPTH_MAX) -> dict[str, Any]:
    """Return an object of a message; optional members may be absent."""
    found: dict[str, Any] = {}
    for field in table().fields(message):
        if field.inline:
            found |= random_object(random, field.type, depth)
        else:
            _add(found, field, random, depth)
    return found


def _add(found: dict[str, Any], field: Field, random: Random, depth: int) -> None:
    optional = field.pointer or bool(field.shape)
    deep = "." in field.type and depth <= 0
    rarely = "." in field.type and depth < DEPTH_MAX - 1
    if optional and (deep or random.random() < (0.8 if rarely else 0.4)):
        if not field.omit_empty:
            found[field.name] = None
        return
    if field.shape == "list":
        found[field.name] = [_value(random, field.type, depth - 1) for _ in range(random.randint(1, 2))]
    elif field.shape == "map":
        found[field.name] = {key: _value(random, field.type, depth - 1) for key in random.sample(_TEXTS, 2)}
    else:
        value = _value(random, field.type, depth - 1)
        if value or field.pointer or not field.omit_empty or _is_always_written(field):
            found[field.name] = value


def _is_always_written(field: Field) -> bool:
    """Report whether the field is a struct, which `omitempty` does not omit."""
    return "." in field.type and not field.type.endswith(".Verbs")


def _value(random: Random, type_: str, depth: int) -> Any:
    if type_ in _INTS:
        return random.choice((0, 1, 127, 128, -1, 2 ** _INTS[type_] - 1, -(2 ** _INTS[type_])))
    makers = {
        "string": _TEXTS,
        "bool": (True, False),
        "double": (0, 1, -2.5, 1e300, 12345678),
        "bytes": ("AA==", "aGVsbG8gd29ybGQ="),
        "meta.v1.Time": (
            "2026-11-20T18:45:20Z",
            "1970-01-01T00:00:00Z",
            "1969-07-20T20:17:40Z",
            "9999-12-31T23:59:59Z",
        ),
        "meta.v1.MicroTime": ("2026-11-20T18:45:20.123456Z", "1969-07-20T20:17:40.000001Z"),
        "meta.v1.Duration": ("0s", "1h30m0s", "-1.5s"),
        "meta.v1.FieldsV1": _RAW,
        "meta.v1.Verbs": (["get"], ["get", "list"]),
        "resource.Quantity": ("0", "100m", "1Gi", "5" * 20 + "k"),
        "intstr.IntOrString": (0, 80, -1, "http", "25%"),
        "runtime.RawExtension": _RAW,
    }
    if type_ in makers:
        return random.choice(makers[type_])
    return _union(random, type_, depth) if _is_union(type_) else random_object(random, type_, depth)


def _is_union(type_: str) -> bool:
    return type_.endswith((".ExtraValue", ".JSON", "OrArray", "OrBool", "OrStringArray"))


def _union(random: Random, type_: str, depth: int) -> Any:
    if type_.endswith(".ExtraValue"):
        return [random.choice(_TEXTS)]
    if type_.endswith(".JSON"):
        return random.choice((*_RAW, 1, "text", [1], False))
    schema = random_object(random, type_.partition("Or")[0], depth)
    if random.random() < 0.5:
        return schema
    if type_.endswith("OrArray"):
        return [schema]
    return random.choice((True, False)) if type_.endswith("OrBool") else ["a", "b"]

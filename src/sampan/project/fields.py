"""Fields of a kind in short form: `length:int>0`, `home:str=Wuhan!`, `mode:enum(slow,fast)`, `note:str?`.

    NAME:TYPE[BOUNDS][?][=DEFAULT][!]

TYPE is `int`, `float`, `str`, `bool`, `quantity`, `enum(a,b)`, `list(TYPE)` or `map(TYPE)`. BOUNDS are those of the
number, or of the length of the text: `>0`, `>=1<=9`. `?` marks an optional field, `!` one that cannot be changed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.generate.names import camel_case, snake_case
from sampan.project.errors import ProjectError

_FORM: Final = "write NAME:TYPE, such as length:int>0, home:str=Wuhan, mode:enum(slow,fast), note:str? or id:str!"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TYPE: Final = re.compile(
    r"(?P<base>int|float|str|bool|quantity|(?:enum|list|map)\([^()]*\))"
    r"(?P<bounds>(?:[<>]=?-?[0-9.]+)*)(?P<optional>\?)?(?:=(?P<default>[^!]*))?(?P<fixed>!)?"
)
_BOUND: Final = re.compile(r"([<>]=?)(-?[0-9.]+)")
_TYPES: Final = {"int": "int", "float": "float", "str": "str", "bool": "bool", "quantity": "Quantity"}
_VALUE: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]*")
_BOUNDED: Final = ("int", "float", "str")


@dataclass(frozen=True, slots=True)
class SpecField:
    """A field of a kind's spec, as code."""

    name: str
    """Name in Python."""
    type: str
    """Type in Python, as text of an annotation."""
    default: str
    """Expression of the default; empty: the field is required."""
    sample: Any
    """A valid value."""
    column_type: str
    """Type of a column of `kubectl get`; empty for lists and maps."""

    @property
    def json_name(self) -> str:
        """Name in manifests and in the schema of the CRD, in camel case."""
        return camel_case(self.name)


def parse_fields(texts: Sequence[str]) -> list[SpecField]:
    """Return the fields. Raises `ProjectError` for a text that is not in the short form, and for a duplicate."""
    fields = [parse_field(text) for text in texts]
    names = [each.json_name for each in fields]
    for text, name in zip(texts, names, strict=True):
        if names.count(name) > 1:
            raise ProjectError(f"--field {text}: there are two fields {name}")
    return fields


def parse_field(text: str) -> SpecField:
    """Return the field of one text. Raises `ProjectError`."""
    name, _, form = text.partition(":")
    found = _TYPE.fullmatch(form)
    if not _NAME.fullmatch(name) or found is None:
        raise ProjectError(f"--field {text}: {_FORM}")
    base, bounds, optional, default, fixed = found.group("base", "bounds", "optional", "default", "fixed")
    if optional and default is not None:
        raise ProjectError(f"--field {text}: a field with a default is optional already: leave out the ?")
    type, sample, column = _base(base, text)
    parts, lowest = _bounds(base, bounds, text)
    constraints = [f"schema_part({', '.join(f'{key}={value!r}' for key, value in parts.items())})"] if parts else []
    if fixed:
        constraints.append("immutable()")
    if lowest is not None:
        sample = "x" * max(int(lowest), 1) if base == "str" else lowest
    expression = ""
    if default is not None:
        value = _default(base, default, text)
        _check_default(base, value, parts, text)
        expression, sample = repr(value), value
        if not value:
            # A zero value in Python means that the field is absent, so the server's default must be explicit.
            constraints.append(f"schema_part(default={value!r})")
    if optional:
        type, expression = f"{type} | None", "None"
    annotated = f"Annotated[{type}, {', '.join(constraints)}]" if constraints else type
    return SpecField(snake_case(name), annotated, expression, sample, column)


def _base(base: str, text: str) -> tuple[str, Any, str]:
    """Return the annotation, a valid value, and the type of a column."""
    outer, _, inner = base.partition("(")
    inner = inner.removesuffix(")")
    if outer == "enum":
        values = [each.strip() for each in inner.split(",")]
        if not all(map(_VALUE.fullmatch, values)) or len(set(values)) < len(values):
            raise ProjectError(f"--field {text}: enum(…) takes different words with commas between them")
        return f"Literal[{', '.join(f'{each!r}' for each in values)}]", values[0], "string"
    if outer in ("list", "map"):
        if inner not in _TYPES:
            raise ProjectError(f"--field {text}: {outer}(…) takes one of {', '.join(_TYPES)}")
        element = _base(inner, text)
        return (
            (f"list[{element[0]}]", [element[1]], "")
            if outer == "list"
            else (f"dict[str, {element[0]}]", {"key": element[1]}, "")
        )
    sample = {"int": 1, "float": 1.5, "str": "example", "bool": True, "quantity": "1Gi"}[base]
    column = {"int": "integer", "float": "number", "bool": "boolean"}.get(base, "string")
    return _TYPES[base], sample, column


def _bounds(base: str, bounds: str, text: str) -> tuple[dict[str, Any], Any]:
    """Return the keywords of the schema, and the smallest valid value if there is one."""
    if bounds and base not in _BOUNDED:
        raise ProjectError(f"--field {text}: only int, float and str have bounds")
    parts: dict[str, Any] = {}
    lowest: Any = None
    for sign, number in _BOUND.findall(bounds):
        value = _number(base, number, text)
        low = sign.startswith(">")
        if base != "float" and sign in "<>":
            value, sign = value + (1 if low else -1), f"{sign}="
        name = {"str": "Length"}.get(base, "imum")
        parts[f"{'min' if low else 'max'}{name}"] = value
        if sign in "<>":
            parts[f"exclusive{'Min' if low else 'Max'}imum"] = True
        if low:
            lowest = value + 1 if sign == ">" else value
    high = parts.get("maximum", parts.get("maxLength"))
    if high is not None and lowest is None:
        lowest = min(high, 1) if not parts.get("exclusiveMaximum") else high - 1
    if high is not None and (lowest > high or (base == "str" and high < 0)):
        raise ProjectError(f"--field {text}: no value is within these bounds")
    return parts, lowest


def _number(base: str, number: str, text: str) -> Any:
    try:
        return float(number) if base == "float" else int(number)
    except ValueError:
        raise ProjectError(f"--field {text}: {number} is no {'number' if base == 'float' else 'integer'}") from None


def _default(base: str, default: str, text: str) -> Any:
    if base.startswith(("list", "map")):
        raise ProjectError(f"--field {text}: a list or map has no default: it is empty if it is absent")
    if base in ("int", "float"):
        return _number(base, default, text)
    if base == "bool":
        if default not in ("true", "false"):
            raise ProjectError(f"--field {text}: the default of a bool is true or false")
        return default == "true"
    if re.search(r"[\"'\\]", default) or not default.isprintable():
        raise ProjectError(f"--field {text}: a default has no quotes, \\ or control characters")
    if base.startswith("enum") and default not in [each.strip() for each in base[5:-1].split(",")]:
        raise ProjectError(f"--field {text}: {default!r} is none of the values")
    return default


def _check_default(base: str, value: Any, parts: dict[str, Any], text: str) -> None:
    size = len(value) if base == "str" else value
    low, high = parts.get("minimum", parts.get("minLength")), parts.get("maximum", parts.get("maxLength"))
    below = low is not None and (size < low or (size == low and "exclusiveMinimum" in parts))
    if below or (high is not None and (size > high or (size == high and "exclusiveMaximum" in parts))):
        raise ProjectError(f"--field {text}: the default is not within the bounds")

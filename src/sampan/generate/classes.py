"""Classes from schemas: the content of a model's source, before it is formatted.

Constraints become parts of the schema (`schema_part`), not checks while decoding. So a model can read all objects of
the server, including those stored before a constraint existed. A CRD created from the classes has the same schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sampan.generate.names import camel_case, class_name, singular, snake_case

Schema = Mapping[str, Any]

_SHAPE = frozenset(
    ["type", "format", "properties", "required", "items", "additionalProperties", "description", "default", "$ref"]
)
_REFERENCE = "#/components/schemas/"
_KNOWN = {
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": "ObjectMeta",
    "io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference": "OwnerReference",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "str",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "str",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Duration": "str",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "AnyObject",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "AnyObject",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "Any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "Any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "Any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "Any",
}


@dataclass(frozen=True, slots=True)
class FieldCode:
    """A field: its name and type in Python, its name in JSON, its default as an expression ("" if it is required)."""

    name: str
    json_name: str
    type: str
    default: str = ""
    factory: str = ""
    doc: str = ""

    @property
    def renamed(self) -> bool:
        """True if the JSON name cannot be derived from the Python name."""
        return camel_case(self.name) != self.json_name


@dataclass(slots=True)
class ClassCode:
    """A class: a Struct, or a kind if it has a `decorator`."""

    name: str
    doc: str = ""
    fields: list[FieldCode] = field(default_factory=list)
    decorator: str = ""


@dataclass(slots=True)
class ClassMaker:
    """Creates classes from schemas. Each class is placed after the classes that it uses, except in cycles.

    `definitions` are the schemas that `$ref`s refer to.
    """

    definitions: Mapping[str, Schema] = field(default_factory=dict)
    classes: list[ClassCode] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def kind(self, name: str, schema: Schema, decorator: str) -> None:
        """Create the class of a kind: all fields except apiVersion, kind and metadata, which every kind has."""
        fixed = ("apiVersion", "kind", "metadata")
        properties = {key: value for key, value in (schema.get("properties") or {}).items() if key not in fixed}
        required = [key for key in schema.get("required") or () if key in properties]
        made = ClassCode(self._free(name), schema.get("description", ""), decorator=decorator)
        made.fields = self._fields(made.name, {"properties": properties, "required": required})
        self.classes.append(made)

    def type_of(self, schema: Schema, *path: str) -> str:
        """Return the type of a value as an expression. `path` gives the names for new classes."""
        reference = _reference(schema)
        if reference:
            return self._referred(reference)
        base = self._base(schema, *path)
        part = _part(schema, base)
        return f"Annotated[{base}, {part}]" if part else base

    def _base(self, schema: Schema, *path: str) -> str:
        if schema.get("x-kubernetes-int-or-string"):
            return "IntOrString"
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, *path)
        if kind == "array":
            *before, last = path
            return f"list[{self.type_of(schema.get('items') or {}, *before, singular(last))}]"
        if kind == "string":
            return _text(schema)
        return {"integer": "int", "number": "float", "boolean": "bool"}.get(str(kind), "Any")

    def _object(self, schema: Schema, *path: str) -> str:
        if schema.get("properties"):
            return self._struct(schema, class_name(*path))
        values = schema.get("additionalProperties")
        if isinstance(values, Mapping) and values:
            return f"dict[str, {self.type_of(values, *path)}]"
        return "AnyObject" if schema.get("x-kubernetes-preserve-unknown-fields") else "dict[str, Any]"

    def _struct(self, schema: Schema, name: str) -> str:
        made = ClassCode(self._free(name), schema.get("description", ""))
        made.fields = self._fields(made.name, schema)
        self.classes.append(made)
        return made.name

    def _referred(self, reference: str) -> str:
        known = _KNOWN.get(reference)
        if known is not None:
            return known
        if reference not in self._names:
            schema = self.definitions[reference]
            short = class_name(reference.rpartition(".")[2])
            if not schema.get("properties"):
                self._names[reference] = self.type_of(schema, short)
            else:
                made = ClassCode(self._free(short), schema.get("description", ""))
                self._names[reference] = made.name
                made.fields = self._fields(made.name, schema)
                self.classes.append(made)
        return self._names[reference]

    def _fields(self, owner: str, schema: Schema) -> list[FieldCode]:
        required = set(schema.get("required") or ())
        taken: set[str] = set()
        fields = []
        for json_name, inside in sorted(schema["properties"].items()):
            name = _unique(snake_case(json_name), taken)
            fields.append(self._field(owner, name, json_name, inside, json_name in required))
        return fields

    def _field(self, owner: str, name: str, json_name: str, schema: Schema, required: bool) -> FieldCode:
        type = self.type_of(schema, owner, json_name)
        doc = schema.get("description", "")
        default = schema.get("default")
        if default is None or default == {}:
            if required:
                return FieldCode(name, json_name, type, doc=doc)
            factory = {"list": "list", "dict": "dict", "AnyObject": "dict"}.get(_container(type), "")
            if factory:
                return FieldCode(name, json_name, type, factory=factory, doc=doc)
            return FieldCode(name, json_name, _optional(type), default="None", doc=doc)
        if not default:
            # A zero value in Python means that the field is absent, so the server's default must be explicit.
            type = f"Annotated[{type}, schema_part(default={default!r})]"
        if isinstance(default, list | dict):
            return FieldCode(name, json_name, type, factory=f"lambda: {default!r}", doc=doc)
        return FieldCode(name, json_name, type, default=repr(default), doc=doc)

    def _free(self, name: str) -> str:
        return _unique(name, self._taken)


def _unique(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name}{number}", number + 1
    taken.add(free)
    return free


def _reference(schema: Schema) -> str:
    """Return the target of a reference.

    OpenAPI v3 wraps it in an `allOf` with one element to add a default or a text.
    """
    of = schema.get("allOf")
    inner = of[0] if isinstance(of, list) and len(of) == 1 and "$ref" in of[0] else schema
    reference: str = inner.get("$ref", "")
    return reference.removeprefix(_REFERENCE)


def _text(schema: Schema) -> str:
    values = schema.get("enum")
    if values and all(isinstance(value, str) for value in values):
        return f"Literal[{', '.join(map(repr, values))}]"
    return "bytes" if schema.get("format") == "byte" else "str"


_FORMATS = {"int": "int64", "float": "double", "bytes": "byte"}


def _part(schema: Schema, base: str) -> str:
    """Return the `schema_part(…)` with all constraints that the type does not express."""
    rest = {
        name: value for name, value in schema.items() if name not in _SHAPE and value is not None and value is not False
    }
    if base.startswith("Literal"):
        rest.pop("enum", None)
    if base in ("IntOrString", "AnyObject", "Any"):
        rest.pop("x-kubernetes-int-or-string", None)
        rest.pop("x-kubernetes-preserve-unknown-fields", None)
        if base == "IntOrString" and rest.get("anyOf") == [{"type": "integer"}, {"type": "string"}]:
            del rest["anyOf"]
    if schema.get("format") and schema["format"] != _FORMATS.get(base):
        rest["format"] = schema["format"]
    return _call("schema_part", rest) if rest else ""


def _call(function: str, arguments: Mapping[str, Any]) -> str:
    plain = [f"{name}={value!r}" for name, value in sorted(arguments.items()) if name.isidentifier()]
    others = {name: value for name, value in sorted(arguments.items()) if not name.isidentifier()}
    return f"{function}({', '.join([*plain, *([f'**{others!r}'] if others else [])])})"


def _container(type: str) -> str:
    inner = type.removeprefix("Annotated[")
    return next((name for name in ("list", "dict", "AnyObject") if inner.startswith(name)), "")


def _optional(type: str) -> str:
    return type if type == "Any" or type.startswith("Annotated[Any,") else f"{type} | None"

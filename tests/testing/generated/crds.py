"""CRDs that together have all keywords of structural schemas, and those of the examples."""

from pathlib import Path
from typing import Any, Final

import yaml

from sampan.testing.generated.values.formats import TEXTS

ROOT: Final = Path(__file__).parents[3]
FILES: Final = (
    ROOT / "examples/01-network/crds/samplecrd.k8s.io_networks.yaml",
    ROOT / "tests/e2e/guestbook/config/crd/guestbooks.yaml",
)
TEXT: Final = {"type": "string"}
COUNT: Final = {"type": "integer"}


def crd(spec: dict[str, Any], kind: str = "Thing", **version: Any) -> dict[str, Any]:
    """Return a CRD with the schema of the spec."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    only = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [only],
        },
    }


def fields(*required: str, **properties: Any) -> dict[str, Any]:
    """Return an object schema with these fields."""
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def rule(text: str, **more: str) -> list[dict[str, str]]:
    """Return the keyword of CEL rules with one rule."""
    return [{"rule": text, **more}]


FORMATS: Final = (*sorted(TEXTS.keys() - {"quantity", "datetime"}), "date-time")
PORT: Final = fields(
    "name", "port", name={"type": "string", "pattern": "^[a-z]{1,15}$"}, port={"minimum": 1, "maximum": 65535, **COUNT}
)
SPECS: Final[dict[str, dict[str, Any]]] = {
    "formats": fields(**{f"f{number}": {"format": name, **TEXT} for number, name in enumerate(FORMATS)}),
    "numbers": fields(
        "small",
        small={"minimum": 3, "maximum": 5, **COUNT},
        above={"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1},
        step={"multipleOf": 7, "minimum": 10, **COUNT},
        below={"maximum": -5, **COUNT},
        wide={"type": "integer", "format": "int64"},
        half={"type": "number", "multipleOf": 0.5},
    ),
    "texts": fields(
        "quantity",
        quantity={
            "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$",
            **TEXT,
        },
        version={"pattern": r"^v\d+\.\d+\.\d+$", **TEXT},
        code={"pattern": "^[A-Z]{3}-[0-9]{4}$", "minLength": 8, "maxLength": 8, **TEXT},
        long={"minLength": 30, "maxLength": 40, **TEXT},
        size={"enum": ["small", "medium", "large"], **TEXT},
        nothing={"nullable": True, **TEXT},
        name={"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "minLength": 3, "maxLength": 63, **TEXT},
    ),
    "lists": fields(
        "ports",
        ports={
            "type": "array",
            "items": PORT,
            "minItems": 1,
            "maxItems": 4,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
        },
        tags={"type": "array", "items": TEXT, "x-kubernetes-list-type": "set", "minItems": 2},
        sizes={
            "type": "array",
            "items": {"enum": ["a", "b", "c"], **TEXT},
            "x-kubernetes-list-type": "set",
            "minItems": 3,
        },
        labels={"type": "object", "additionalProperties": TEXT, "minProperties": 1, "maxProperties": 3},
        nested={"type": "array", "items": {"type": "array", "items": COUNT}},
    ),
    "open": fields(
        percent={
            "x-kubernetes-int-or-string": True,
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": "^[0-9]+%?$",
        },
        anything={"x-kubernetes-preserve-unknown-fields": True},
        free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        template={
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        flag={"type": "boolean", "default": True},
    ),
    "alternatives": {
        **fields(
            file=fields("path", path=TEXT),
            url={"format": "uri", **TEXT},
            inline=TEXT,
            mode={"type": "string", "not": {"enum": ["forbidden"]}},
        ),
        "oneOf": [{"required": ["file"]}, {"required": ["url"]}, {"required": ["inline"]}],
    },
    "rules": {
        **fields(
            "replicas",
            "kind",
            replicas={"minimum": 0, "maximum": 100, **COUNT},
            minReplicas={"minimum": 0, "maximum": 100, **COUNT},
            maxReplicas={"minimum": 0, "maximum": 100, **COUNT},
            kind={"enum": ["A", "B"], **TEXT},
            a=TEXT,
            b=TEXT,
            names={
                "type": "array",
                "maxItems": 5,
                "items": {"maxLength": 10, **TEXT, "x-kubernetes-validations": rule("self.size() >= 2")},
            },
        ),
        "x-kubernetes-validations": [
            {"rule": "!has(self.minReplicas) || self.minReplicas <= self.replicas"},
            {"rule": "!has(self.maxReplicas) || self.replicas <= self.maxReplicas"},
            {"rule": "has(self.a) == (self.kind == 'A')", "message": "a needs kind A"},
            {"rule": "has(self.b) == (self.kind == 'B')", "message": "b needs kind B"},
        ],
    },
}
CRDS: Final = {
    **{name: crd(spec) for name, spec in SPECS.items()},
    **{file.name: next(yaml.safe_load_all(file.read_text())) for file in FILES},
}

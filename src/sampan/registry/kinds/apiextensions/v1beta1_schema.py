"""Schema of `apiextensions.k8s.io/v1beta1` CustomResourceDefinitions, derived from that of v1.

v1beta1 differs from v1 in these fields:

- Validation, subresources and columns are set for all versions, next to those of each version.
- There is a single `version`.
- Columns have `JSONPath`, not `jsonPath`.
- The client configuration of the webhook is not nested in an object.

Source: apiextensions-apiserver pkg/apis/apiextensions/v1beta1/types.go (1.21).
"""

from dataclasses import replace

from sampan.schema.builtin import Definitions
from sampan.schema.structural import Schema, ValueValidations

_V1 = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"


def crd_v1beta1_schema(schemas: Definitions) -> Schema:
    """Return the root schema of the v1beta1 kind."""
    root = schemas.schema(f"{_V1}.CustomResourceDefinition")
    spec = schemas.schema(f"{_V1}.CustomResourceDefinitionSpec")
    version = schemas.schema(f"{_V1}.CustomResourceDefinitionVersion")
    columns = Schema(type="array", items=_column(schemas))
    old_version = _with(version, {"additionalPrinterColumns": columns}, {"additionalPrinterColumns": "o []v1beta1"})
    shared = {
        "version": Schema(type="string"),
        "versions": Schema(type="array", items=old_version),
        "validation": schemas.schema(f"{_V1}.CustomResourceValidation"),
        "subresources": schemas.schema(f"{_V1}.CustomResourceSubresources"),
        "additionalPrinterColumns": columns,
        "selectableFields": version.properties["selectableFields"],
        "preserveUnknownFields": Schema(type="boolean"),
        "conversion": _conversion(schemas),
    }
    facts = {
        "version": "o string",
        "versions": "o []v1beta1.CustomResourceDefinitionVersion",
        "validation": "po v1beta1.CustomResourceValidation",
        "subresources": "po v1beta1.CustomResourceSubresources",
        "additionalPrinterColumns": "o []v1beta1.CustomResourceColumnDefinition",
        "selectableFields": "o []v1beta1.SelectableField",
        "preserveUnknownFields": "po bool",
        "conversion": "po v1beta1.CustomResourceConversion",
    }
    return _with(root, {"spec": _with(spec, shared, facts)}, {})


def _column(schemas: Definitions) -> Schema:
    column = schemas.schema(f"{_V1}.CustomResourceColumnDefinition")
    old = _with(column, {"JSONPath": Schema(type="string")}, {"JSONPath": " string"})
    old.properties.pop("jsonPath")
    old.fields.pop("jsonPath")
    return old


def _conversion(schemas: Definitions) -> Schema:
    client_config = schemas.schema(f"{_V1}.WebhookClientConfig")
    return Schema(
        type="object",
        properties={
            "strategy": Schema(type="string"),
            "webhookClientConfig": client_config,
            "conversionReviewVersions": Schema(type="array", items=Schema(type="string")),
        },
        fields={
            "strategy": " v1beta1.ConversionStrategyType",
            "webhookClientConfig": "po v1beta1.WebhookClientConfig",
            "conversionReviewVersions": "o []string",
        },
    )


def _with(schema: Schema, properties: dict[str, Schema], fields: dict[str, str]) -> Schema:
    """Return a copy with other properties, none of which is required."""
    return replace(
        schema,
        name=schema.name.replace(".v1.", ".v1beta1."),
        properties={**schema.properties, **properties},
        fields={**schema.fields, **fields},
        validations=ValueValidations(),
    )

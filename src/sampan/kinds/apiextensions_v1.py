"""Types of apiextensions/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Any, Final, Literal, Required, TypeAlias, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class CustomResourceColumnDefinition(TypedDict, total=False):
    """Type of `CustomResourceDefinitionVersion.additionalPrinterColumns`."""

    description: str
    format: str
    jsonPath: Required[str]
    name: Required[str]
    priority: int
    type: Required[str]


class CustomResourceConversion(TypedDict, total=False):
    """Type of `CustomResourceDefinitionSpec.conversion`."""

    strategy: Required[str]
    webhook: WebhookConversion


class CustomResourceDefinition(TypedDict, total=False):
    """Object of the resource `customresourcedefinitions`."""

    apiVersion: Required[Literal["apiextensions.k8s.io/v1"]]
    kind: Required[Literal["CustomResourceDefinition"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[CustomResourceDefinitionSpec]
    status: CustomResourceDefinitionStatus


class CustomResourceDefinitionCondition(TypedDict, total=False):
    """Type of `CustomResourceDefinitionStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    observedGeneration: int
    reason: str
    status: Required[str]
    type: Required[str]


class CustomResourceDefinitionList(TypedDict, total=False):
    """Response with a list of `CustomResourceDefinition`."""

    apiVersion: Required[Literal["apiextensions.k8s.io/v1"]]
    items: Required[list[CustomResourceDefinition]]
    kind: Required[Literal["CustomResourceDefinitionList"]]
    metadata: Required[meta_v1.ListMeta]


class CustomResourceDefinitionNames(TypedDict, total=False):
    """Type of `CustomResourceDefinitionSpec.names`, `CustomResourceDefinitionStatus.acceptedNames`."""

    categories: list[str]
    kind: Required[str]
    listKind: str
    plural: Required[str]
    shortNames: list[str]
    singular: str


class CustomResourceDefinitionSpec(TypedDict, total=False):
    """Type of `CustomResourceDefinition.spec`."""

    conversion: CustomResourceConversion
    group: Required[str]
    names: Required[CustomResourceDefinitionNames]
    preserveUnknownFields: bool
    scope: Required[str]
    versions: Required[list[CustomResourceDefinitionVersion]]


class CustomResourceDefinitionStatus(TypedDict, total=False):
    """Type of `CustomResourceDefinition.status`."""

    acceptedNames: Required[CustomResourceDefinitionNames]
    conditions: list[CustomResourceDefinitionCondition]
    observedGeneration: int
    storedVersions: list[str]


class CustomResourceDefinitionVersion(TypedDict, total=False):
    """Type of `CustomResourceDefinitionSpec.versions`."""

    additionalPrinterColumns: list[CustomResourceColumnDefinition]
    deprecated: bool
    deprecationWarning: str
    name: Required[str]
    schema: CustomResourceValidation
    selectableFields: list[SelectableField]
    served: Required[bool]
    storage: Required[bool]
    subresources: CustomResourceSubresources


class CustomResourceSubresourceScale(TypedDict, total=False):
    """Type of `CustomResourceSubresources.scale`."""

    labelSelectorPath: str
    specReplicasPath: Required[str]
    statusReplicasPath: Required[str]


CustomResourceSubresourceStatus: TypeAlias = dict[str, Any]
"""Object without fields that the schema names."""


class CustomResourceSubresources(TypedDict, total=False):
    """Type of `CustomResourceDefinitionVersion.subresources`."""

    scale: CustomResourceSubresourceScale
    status: CustomResourceSubresourceStatus


class CustomResourceValidation(TypedDict, total=False):
    """Type of `CustomResourceDefinitionVersion.schema`."""

    openAPIV3Schema: JSONSchemaProps


class ExternalDocumentation(TypedDict, total=False):
    """Type of `JSONSchemaProps.externalDocs`."""

    description: str
    url: str


JSON: TypeAlias = Any
"""Any JSON value."""

JSONSchemaProps = TypedDict(
    "JSONSchemaProps",
    {
        "$ref": "str",
        "$schema": "str",
        "additionalItems": "JSONSchemaPropsOrBool",
        "additionalProperties": "JSONSchemaPropsOrBool",
        "allOf": "list[JSONSchemaProps]",
        "anyOf": "list[JSONSchemaProps]",
        "default": "JSON",
        "definitions": "dict[str, JSONSchemaProps]",
        "dependencies": "dict[str, JSONSchemaPropsOrStringArray]",
        "description": "str",
        "enum": "list[JSON]",
        "example": "JSON",
        "exclusiveMaximum": "bool",
        "exclusiveMinimum": "bool",
        "externalDocs": "ExternalDocumentation",
        "format": "str",
        "id": "str",
        "items": "JSONSchemaPropsOrArray",
        "maxItems": "int",
        "maxLength": "int",
        "maxProperties": "int",
        "maximum": "float",
        "minItems": "int",
        "minLength": "int",
        "minProperties": "int",
        "minimum": "float",
        "multipleOf": "float",
        "not": "JSONSchemaProps",
        "nullable": "bool",
        "oneOf": "list[JSONSchemaProps]",
        "pattern": "str",
        "patternProperties": "dict[str, JSONSchemaProps]",
        "properties": "dict[str, JSONSchemaProps]",
        "required": "list[str]",
        "title": "str",
        "type": "str",
        "uniqueItems": "bool",
        "x-kubernetes-embedded-resource": "bool",
        "x-kubernetes-int-or-string": "bool",
        "x-kubernetes-list-map-keys": "list[str]",
        "x-kubernetes-list-type": "str",
        "x-kubernetes-map-type": "str",
        "x-kubernetes-preserve-unknown-fields": "bool",
        "x-kubernetes-validations": "list[ValidationRule]",
    },
    total=False,
)
"""Type of `CustomResourceValidation.openAPIV3Schema`, `JSONSchemaProps.allOf` and more fields."""

JSONSchemaPropsOrArray: TypeAlias = dict[str, Any] | list[Any]
"""Schema, or one schema for each item."""

JSONSchemaPropsOrBool: TypeAlias = dict[str, Any] | bool
"""Schema, or whether every value is permitted."""

JSONSchemaPropsOrStringArray: TypeAlias = dict[str, Any] | list[str]
"""Schema, or names of properties."""


class SelectableField(TypedDict, total=False):
    """Type of `CustomResourceDefinitionVersion.selectableFields`."""

    jsonPath: Required[str]


class ServiceReference(TypedDict, total=False):
    """Type of `WebhookClientConfig.service`."""

    name: Required[str]
    namespace: Required[str]
    path: str
    port: int


class ValidationRule(TypedDict, total=False):
    """Type of `JSONSchemaProps.x-kubernetes-validations`."""

    fieldPath: str
    message: str
    messageExpression: str
    optionalOldSelf: bool
    reason: str
    rule: Required[str]


class WebhookClientConfig(TypedDict, total=False):
    """Type of `WebhookConversion.clientConfig`."""

    caBundle: str
    service: ServiceReference
    url: str


class WebhookConversion(TypedDict, total=False):
    """Type of `CustomResourceConversion.webhook`."""

    clientConfig: WebhookClientConfig
    conversionReviewVersions: Required[list[str]]


GROUP_VERSION: Final = GroupVersion("apiextensions.k8s.io", "v1")

RESOURCES: Final = {
    "CustomResourceDefinition": ("customresourcedefinitions", False),
}
"""Resources by their kinds, and True if they are in namespaces."""

"""CustomResourceDefinitions. Their rules are in `registry/crd`."""

from typing import Final

from sampan.registry.crd.strategy import CustomResourceDefinitionStrategy
from sampan.registry.kind import Kind, KindVersion
from sampan.registry.kinds.apiextensions.v1beta1_conversion import CustomResourceDefinitionConversion
from sampan.registry.kinds.apiextensions.v1beta1_schema import crd_v1beta1_schema

KINDS: Final = (
    Kind(
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        CustomResourceDefinitionStrategy(),
        versions={
            "v1beta1": KindVersion(
                conversion=CustomResourceDefinitionConversion(),
                strategy=CustomResourceDefinitionStrategy(legacy=True),
                schema=crd_v1beta1_schema,
                deprecation_warning="apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
                "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition",
            )
        },
        storage_prefix="apiextensions.k8s.io/customresourcedefinitions",
    ),
)

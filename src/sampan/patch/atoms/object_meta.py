"""Schema of metadata for merging. The schemas of custom resources do not define it."""

from typing import Final

from sampan.schema.structural import ListType, MapType, Schema


def _texts() -> Schema:
    return Schema(type="object", additional_properties=Schema(type="string"))


def _struct(texts: tuple[str, ...], flags: tuple[str, ...] = ()) -> dict[str, Schema]:
    fields = {name: Schema(type="string") for name in texts}
    fields.update({name: Schema(type="boolean") for name in flags})
    return fields


OBJECT_META: Final = Schema(
    type="object",
    name="io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    properties={
        **_struct(
            (
                "creationTimestamp",
                "deletionTimestamp",
                "generateName",
                "name",
                "namespace",
                "resourceVersion",
                "selfLink",
                "uid",
            )
        ),
        "annotations": _texts(),
        "labels": _texts(),
        "deletionGracePeriodSeconds": Schema(type="integer"),
        "generation": Schema(type="integer"),
        "finalizers": Schema(
            type="array", items=Schema(type="string"), list_type=ListType.SET, patch_strategy=("merge",)
        ),
        "ownerReferences": Schema(
            type="array",
            list_type=ListType.MAP,
            list_map_keys=("uid",),
            patch_strategy=("merge",),
            patch_merge_key="uid",
            items=Schema(
                type="object",
                properties=_struct(("apiVersion", "kind", "name", "uid"), ("blockOwnerDeletion", "controller")),
                map_type=MapType.ATOMIC,
            ),
        ),
        "managedFields": Schema(
            type="array", list_type=ListType.ATOMIC, items=Schema(type="object", preserve_unknown_fields=True)
        ),
    },
)

"""Small schemas that cover every case of merging."""

from sampan.schema.structural import ListType, MapType, Schema

STRING = Schema(type="string")
INTEGER = Schema(type="integer")
BOOLEAN = Schema(type="boolean")


def struct(type_name: str = "", facts: dict[str, str] | None = None, /, **properties: Schema) -> Schema:
    return Schema(type="object", name=type_name, properties=properties, fields=facts or {})


def map_of(entry: Schema) -> Schema:
    return Schema(type="object", additional_properties=entry)


def atomic_map_of(entry: Schema) -> Schema:
    return Schema(type="object", additional_properties=entry, map_type=MapType.ATOMIC)


def list_of(items: Schema) -> Schema:
    return Schema(type="array", items=items, list_type=ListType.ATOMIC)


def set_of(items: Schema) -> Schema:
    return Schema(type="array", items=items, list_type=ListType.SET, patch_strategy=("merge",))


def keyed_list_of(items: Schema, *keys: str, patch_key: str = "", retain: bool = False) -> Schema:
    strategy = ("merge", "retainKeys") if retain else ("merge",)
    return Schema(
        type="array",
        items=items,
        list_type=ListType.MAP,
        list_map_keys=keys,
        patch_strategy=strategy,
        patch_merge_key=patch_key or keys[0],
    )


METADATA = struct(
    name=STRING,
    namespace=STRING,
    uid=STRING,
    resourceVersion=STRING,
    generation=INTEGER,
    creationTimestamp=STRING,
    labels=map_of(STRING),
    annotations=map_of(STRING),
    finalizers=set_of(STRING),
    managedFields=list_of(Schema(type="object")),
)

PORT = struct(containerPort=INTEGER, name=STRING, protocol=Schema(type="string", default="TCP"), hostPort=INTEGER)

CONTAINER = struct(
    name=STRING,
    image=STRING,
    args=list_of(STRING),
    env=keyed_list_of(struct(name=STRING, value=STRING), "name"),
    ports=keyed_list_of(PORT, "containerPort", "protocol", patch_key="containerPort"),
)

VOLUME = struct(name=STRING, emptyDir=struct(medium=STRING), configMap=struct(name=STRING))

APP = struct(
    "io.example.App",
    {"spec": "o AppSpec", "status": "o AppStatus"},
    apiVersion=STRING,
    kind=STRING,
    metadata=METADATA,
    spec=struct(
        "io.example.AppSpec",
        {
            "replicas": "po int32",
            "containers": " []Container",
            "strategy": "o Strategy",
            "volumes": "o []Volume",
            "rollback": "po Rollback",
        },
        replicas=INTEGER,
        paused=BOOLEAN,
        containers=keyed_list_of(CONTAINER, "name"),
        volumes=keyed_list_of(VOLUME, "name", retain=True),
        tolerations=list_of(struct(key=STRING, effect=STRING)),
        selector=atomic_map_of(STRING),
        strategy=struct(type=STRING, maxSurge=Schema(scalar="int-or-string")),
        rollback=struct(revision=INTEGER),
        matrix=Schema(type="array", items=list_of(STRING), list_type=ListType.SET, patch_strategy=("merge",)),
        size=Schema(type="object", properties={"cpu": STRING}, patch_strategy=("replace",)),
        raw=Schema(type="object", preserve_unknown_fields=True),
    ),
    status=struct(
        "io.example.AppStatus",
        ready=INTEGER,
        conditions=keyed_list_of(struct(type=STRING, status=STRING), "type"),
    ),
)
"""Schema of a workload: keyed lists with one and two keys, a set, atomic parts, Go facts, a part without a schema."""

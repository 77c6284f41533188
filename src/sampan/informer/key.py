"""Keys of objects in a store: `namespace/name`, or `name` for cluster-scoped objects.

Source: client-go tools/cache/store.go `MetaNamespaceKeyFunc`, `SplitMetaNamespaceKey` (1.36).
"""


def join_key(namespace: str, name: str) -> str:
    """Return the key of an object. `namespace` is empty for cluster-scoped objects."""
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """Return the namespace (empty if there is none) and the name. Raises `ValueError` for an invalid key."""
    namespace, _, name = key.rpartition("/")
    if "/" in namespace:
        raise ValueError(f"unexpected key format: {key!r}")
    return namespace, name

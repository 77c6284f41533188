"""Keys of objects in a store: `namespace/name`, or `name` alone where there are no namespaces.

Source: client-go tools/cache/store.go `MetaNamespaceKeyFunc`, `SplitMetaNamespaceKey` (1.36).
"""


def join_key(namespace: str, name: str) -> str:
    """The key of an object; an empty namespace means that it is in none."""
    return f"{namespace}/{name}" if namespace else name


def split_key(key: str) -> tuple[str, str]:
    """Namespace (empty where there is none) and name. Raises `ValueError` for what is no key."""
    namespace, _, name = key.rpartition("/")
    if "/" in namespace:
        raise ValueError(f"unexpected key format: {key!r}")
    return namespace, name

"""ConfigMaps. Source: pkg/registry/core/configmap/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

from typing import Final

from sampan.core.field import FieldError, Path, forbidden, invalid, too_long
from sampan.core.object import Object
from sampan.core.validation.values import config_map_key_errors
from sampan.registry.columns.cells import NAME, at, column
from sampan.registry.kind import Kind
from sampan.registry.rules.fields import NOWHERE
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
SIZE_BYTES_MAX = 1024 * 1024
"""Maximum total size of all values of a ConfigMap or Secret."""
IMMUTABLE = "field is immutable when `immutable` is set"


def decoded_size_bytes(text: str) -> int:
    """Return the size of the data in a base64 text."""
    return len(text) * 3 // 4 - text.count("=", -2)


def size_bytes(text: str) -> int:
    """Return the size of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def check_immutable_data(obj: Object, old: Object, fields: tuple[str, ...], errors: Errors) -> None:
    """Check that immutable data, and the `immutable` field itself, did not change."""
    if not old.get("immutable"):
        return
    if not obj.get("immutable"):
        errors.append(forbidden(Path("immutable"), IMMUTABLE))
    errors.extend(forbidden(Path(name), IMMUTABLE) for name in fields if (obj.get(name) or {}) != (old.get(name) or {}))


class ConfigMapStrategy(Strategy):
    """Limits keys and total size (1 MiB) of a ConfigMap, and refuses changes of an immutable one."""

    has_generation = False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        size = 0
        data, binary = obj.get("data"), obj.get("binaryData")
        if data:
            for key, value in data.items():
                if texts := config_map_key_errors(key):
                    errors.extend(invalid(Path("data").key(key), key, text) for text in texts)
                if binary and key in binary:
                    errors.append(invalid(Path("data").key(key), key, "duplicate of key present in binaryData"))
                size += size_bytes(value)
        if binary:
            for key, value in binary.items():
                errors.extend(invalid(Path("binaryData").key(key), key, text) for text in config_map_key_errors(key))
                size += decoded_size_bytes(value)
        if size > SIZE_BYTES_MAX:
            errors.append(too_long(NOWHERE, "", SIZE_BYTES_MAX))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        check_immutable_data(obj, old, ("data", "binaryData"), errors)
        self.check(ctx, obj, errors)


_DATA_OF: Final = at("data", default=())
_BINARY_DATA_OF: Final = at("binaryData", default=())

KINDS: Final = (
    Kind(
        "",
        "configmaps",
        ConfigMapStrategy(),
        columns=lambda ages: (
            NAME,
            column("Data", lambda obj: len(_DATA_OF(obj)) + len(_BINARY_DATA_OF(obj))),
            ages.column,
        ),
    ),
)

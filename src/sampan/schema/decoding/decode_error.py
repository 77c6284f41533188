"""`DecodeError`: an object cannot be decoded as its kind."""

from sampan.core.go_text import kind_text
from sampan.schema.decoding.inlined import inlined_in


class DecodeError(Exception):
    """The object cannot be decoded as its kind. `str()` is the message of Go's decoder, which the caller may prefix."""

    def __init__(self, value: str, go_type: str, text: str = "", *, converted: str = "") -> None:
        super().__init__()
        self._converted = converted
        self._value = value
        self._go_type = go_type
        self._text = text
        self._struct = ""
        self._names: list[str] = []

    def under(self, struct: str, name: str) -> None:
        """Add a field to the path of the error, on its way up from the innermost value."""
        self._struct = self._struct or struct
        self._names += [name, *reversed(inlined_in(struct, name))]

    @property
    def converted(self) -> str:
        """Message for a value that is converted, not decoded; it does not contain the path."""
        return self._converted or self._text or kind_text(self._value, self._go_type)

    def __str__(self) -> str:
        if self._text:
            return self._text
        field = f"{self._struct}.{'.'.join(reversed(self._names))}" if self._names else ""
        return kind_text(self._value, self._go_type, field=field)

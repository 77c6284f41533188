"""`WriteOptions`: options of a create, update or patch."""

import msgspec


class WriteOptions(msgspec.Struct):
    """Options of create, update and patch. `field_validation` is Ignore, Warn or Strict."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Warn"
    force: bool | None = None

    @property
    def strict(self) -> bool:
        """Return True if unknown and duplicate fields are refused."""
        return self.field_validation == "Strict"

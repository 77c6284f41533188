"""`Unreadable`: which keys of a cache hold values that cannot be decrypted or read, and why."""

from collections.abc import Callable

from sampan.storage.encryption.transformer import ENCRYPTED
from sampan.storage.store import KeyValue, UnreadableValue, Untransformable


def fault_of(row: KeyValue) -> str:
    """Why the value of a row cannot be decrypted or read, or not by this server; empty: it can."""
    if isinstance(row.value, UnreadableValue):
        return row.value.error
    if row.value.startswith(ENCRYPTED):
        return f'unable to transform key "{row.key}": identity transformer tried to read encrypted data'
    return ""


class Unreadable(dict[str, str]):
    """Texts by key. Empty nearly always: whoever asks often looks at that first."""

    def note(self, row: KeyValue) -> bool:
        """Remember a row whose value cannot be decrypted or read, or is not by this server; False: it is none."""
        fault = fault_of(row)
        if fault:
            self[row.key] = fault
        return bool(fault)

    def check_key(self, key: str) -> None:
        """Raises `Untransformable` if this one is among them."""
        if key in self:
            raise Untransformable(self[key])

    def check(self, prefix: str, present: Callable[[str], object | None]) -> None:
        """Raises `Untransformable` for a key below `prefix`, unless it is `present`: only its past is unreadable."""
        for key, error in self.items():
            if key.startswith(prefix) and present(key) is None:
                raise Untransformable(error)

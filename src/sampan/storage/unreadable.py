"""`UnreadableKeys`: keys of a cache whose values cannot be decrypted or read, with the errors."""

from collections.abc import Callable

from sampan.storage.encryption.transformer import ENCRYPTED
from sampan.storage.store import KeyValue, UnreadableValue, Untransformable


def fault_of(row: KeyValue) -> str:
    """Return the reason why this server cannot decrypt or read the value of a row; empty if it can."""
    if isinstance(row.value, UnreadableValue):
        return row.value.error
    if row.value.startswith(ENCRYPTED):
        return f'unable to transform key "{row.key}": identity transformer tried to read encrypted data'
    return ""


class UnreadableKeys(dict[str, str]):
    """Errors by key. Almost always empty, so frequent callers first check if there are any errors."""

    def note(self, row: KeyValue) -> bool:
        """Record a row that this server cannot decrypt or read. Return False if it can."""
        fault = fault_of(row)
        if fault:
            self[row.key] = fault
        return bool(fault)

    def check_key(self, key: str) -> None:
        """Raise `Untransformable` if the key is unreadable."""
        if key in self:
            raise Untransformable(self[key])

    def check(self, prefix: str, present: Callable[[str], object | None]) -> None:
        """Raise `Untransformable` for an unreadable key below `prefix`. Keys that are `present` have a readable value
        again.
        """
        for key, error in self.items():
            if key.startswith(prefix) and present(key) is None:
                raise Untransformable(error)

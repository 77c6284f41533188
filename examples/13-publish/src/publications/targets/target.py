"""`Target`: what the reconciler needs of a system outside of the cluster, and the errors that it may report."""

from typing import NamedTuple, Protocol

from sampan.operator import RetryLater


class Entry(NamedTuple):
    """Records of a target under a name."""

    owner: str
    """Identity of the publication that made the entry; empty if none did."""
    addresses: frozenset[str]
    is_free: bool = False
    """True if the target has nothing under the name."""


class Busy(RetryLater):
    """The target limits the rate of requests: none may be sent before `after_s` seconds have passed."""


class Unavailable(RetryLater):
    """The target does not answer, or refuses an answer for now."""


class Lost(RetryLater):
    """The entry was changed after it was read. Nothing was written."""


class Target(Protocol):
    """System in which addresses are published. All calls raise `Busy` and `Unavailable`."""

    has_ports: bool
    """True if an address includes the port."""

    async def read(self, name: str, owner: str) -> Entry:
        """Return the entry of a name, as far as it matters to an owner."""
        ...

    async def write(self, name: str, owner: str, before: Entry, addresses: frozenset[str] | None) -> None:
        """Change the addresses of an owner from those in `before`, which `read` has returned.

        Claims a free name. None gives the name up. Raises `Lost`.
        """
        ...

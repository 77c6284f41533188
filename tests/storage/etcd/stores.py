"""The etcd engine with a clock that tests move: expired leases are revoked when the test requests it."""

from collections.abc import Callable
from typing import Any

import grpc

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.leases import Lease
from sampan.storage.etcd.store import EtcdStore


def _revoke_request(lease: int) -> bytes:
    """LeaseRevokeRequest: ID=1."""
    lease, encoded = lease & (2**64 - 1), bytearray(b"\x08")
    while lease > 127:
        encoded.append(lease & 127 | 128)
        lease >>= 7
    return bytes(encoded + bytes([lease]))


class ClockedEtcdStore(EtcdStore):
    """An `EtcdStore` whose rows expire by `clock`, when `expire` is called, as they would by etcd's own."""

    def __init__(self, server: str, clock: Callable[[], float], **settings: Any) -> None:
        super().__init__(EtcdSettings((server,)), clock=clock, **settings)
        self._server = server.partition("//")[2]
        self._test_clock = clock
        self._due: list[tuple[float, int]] = []

    async def open(self) -> None:
        await super().open()
        leases = self._writes._leases
        grant = leases._grant

        async def grant_noted(ttl_s: int) -> Lease:
            lease = await grant(ttl_s)
            self._due.append((self._test_clock() + ttl_s, lease.id))
            return lease

        leases._grant = grant_noted  # type: ignore[method-assign]  # the tests' clock decides when it expires

    def expire(self) -> None:
        """Revoke what is due, and return when etcd has done so."""
        now = self._test_clock()
        due = [lease for at, lease in self._due if at <= now]
        self._due = [entry for entry in self._due if entry[0] > now]
        with grpc.insecure_channel(self._server) as channel:
            for lease in due:
                channel.unary_unary("/etcdserverpb.Lease/LeaseRevoke", _revoke_request, bytes)(lease)

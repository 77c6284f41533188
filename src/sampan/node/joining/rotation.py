"""`CertificateRotation`: renews a node's client certificate before it expires.

Concurrency: one task of the manager. It sleeps until the renewal, at 70 to 90 % of the certificate's lifetime, so that
nodes that joined together do not renew together.
Source: client-go util/certificate/certificate_manager.go `nextRotationDeadline` (1.36).
"""

import asyncio
import datetime as dt
import logging
import random
from typing import Final

from cryptography import x509

from sampan.client import Client, ClientError
from sampan.core.time import Clock
from sampan.node.joining.certificate import request_certificate
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.joining.errors import JoinError

RETRY_S: Final = 60.0
APPROVAL_S: Final = 900.0
"""Time to wait for the approval of a renewal."""
SLEEP_S_MAX: Final = 3600.0
"""Longest sleep, because a suspended machine does not count the time."""

_log = logging.getLogger("sampan.node")


class CertificateRotation:
    """Renews the certificate of a node, with the certificate itself as credentials."""

    needs_leader_election = False

    def __init__(self, credentials: NodeCredentials, client: Client, node: str, clock: Clock) -> None:
        self._credentials = credentials
        self._client = client
        self._node = node
        self._clock = clock

    def __str__(self) -> str:
        return "rotation of the client certificate"

    async def run(self) -> None:
        """Renew the certificate before each expiry until cancelled. Failures are logged and retried."""
        while True:
            try:
                await self._renew_once()
            except (ClientError, JoinError, OSError, ValueError) as error:
                _log.warning("cannot renew the client certificate, retrying: %s", error, extra={"seconds": RETRY_S})
                await asyncio.sleep(RETRY_S)

    async def _renew_once(self) -> None:
        """Wait until the certificate must be renewed, and renew it."""
        # Read each time, because another process may have joined the node again.
        current = self._credentials.read()
        if current is None:
            raise JoinError("the files of the node's certificate are missing: join the cluster again")
        await sleep_until(renewal_time(current.certificate), self._clock)
        # With a new key: a stolen old key becomes useless when its certificate expires.
        renewed = await request_certificate(self._client, self._node, timeout_s=APPROVAL_S)
        self._credentials.write_certificate(renewed)
        _log.info("client certificate renewed", extra={"until": str(renewed.certificate.not_valid_after_utc)})


async def sleep_until(at: dt.datetime, clock: Clock) -> None:
    """Sleep until a time. A suspended machine wakes up late by at most `SLEEP_S_MAX`."""
    while True:
        left_s = (at - clock.now()).total_seconds()
        if left_s <= 0:
            return
        await asyncio.sleep(min(left_s, SLEEP_S_MAX))


def renewal_time(certificate: x509.Certificate, part: float | None = None) -> dt.datetime:
    """Return the time at which a fraction of the certificate's lifetime is over.

    None: a random fraction from 0.7 to 0.9.
    """
    start = certificate.not_valid_before_utc
    return start + (certificate.not_valid_after_utc - start) * (part or random.uniform(0.7, 0.9))

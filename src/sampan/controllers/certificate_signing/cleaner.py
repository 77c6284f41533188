"""The cleaner: deletes requests that are finished, expired, or pending for too long.

Source: kubernetes pkg/controller/certificates/cleaner/cleaner.go (1.36).
"""

from __future__ import annotations

import base64
import datetime as dt
from typing import Final

from cryptography import x509

from sampan.client import DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS
from sampan.controllers.certificate_signing.rules import is_issued
from sampan.core.time import parse_time
from sampan.kinds import certificates_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "certificatesigningrequest-cleaner-controller"
DECIDED: Final = dt.timedelta(hours=1)
"""Time after which an issued, denied or failed request is deleted."""
PENDING: Final = dt.timedelta(hours=24)
"""Time after which a request that waits for approval or its certificate is deleted."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    Builder(context.manager).named(NAME).for_(CERTIFICATE_SIGNING_REQUESTS).complete(Cleaner(context))


class Cleaner:
    """Deletes old requests."""

    def __init__(self, context: ControllerContext) -> None:
        self._clock = context.clock
        self._requests = context.manager.client.resource(CERTIFICATE_SIGNING_REQUESTS)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one request. Raises `ApiError`, `TransportError`."""
        csr = await self._requests.find(request)
        if csr is None:
            return None
        left = ends_at(csr) - self._clock.now()
        if left > dt.timedelta():
            return Result(left.total_seconds())
        try:
            # A client may delete and create a request of the same name at any time.
            await self._requests.delete(request.name, DeleteOptions(uid=meta(csr).uid))
        except NotFound:
            return None
        return None


def ends_at(csr: certificates_v1.CertificateSigningRequest) -> dt.datetime:
    """Return the time at which a request must be deleted."""
    created = parse_time(meta(csr).creation_timestamp or "9000-01-01T00:00:00Z")
    conditions = (csr.get("status") or {}).get("conditions") or ()
    if not conditions:
        return created + PENDING
    ends: list[dt.datetime] = []
    for condition in conditions:
        updated = condition.get("lastUpdateTime")
        kind = condition["type"]
        if updated and kind in ("Denied", "Failed"):
            ends.append(parse_time(updated) + DECIDED)
        elif updated and kind == "Approved":
            ends.append(parse_time(updated) + (DECIDED if is_issued(csr) else PENDING))
        if kind == "Approved" and is_issued(csr):
            ends.append(_expiry(csr))
    return min(ends, default=dt.datetime.max.replace(tzinfo=dt.UTC))


def _expiry(csr: certificates_v1.CertificateSigningRequest) -> dt.datetime:
    try:
        return x509.load_pem_x509_certificate(base64.b64decode(csr["status"]["certificate"])).not_valid_after_utc
    except ValueError:
        return dt.datetime.max.replace(tzinfo=dt.UTC)

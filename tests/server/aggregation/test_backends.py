"""TLS contexts for the backends of APIServices."""

import datetime as dt
import ssl

import pytest

from sampan.registry.webhook.services import ServiceAddress
from sampan.server.aggregation.api_service import ApiService, ServiceReference
from sampan.server.aggregation.backend import Backends
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.pki.certificates import make_ca
from sampan.server.request import UserInfo

NOW = dt.datetime.now(dt.UTC)


def context(backends: Backends, ca_pem: str = "", *, insecure: bool = False) -> ssl.SSLContext:
    """Return the TLS context for an APIService."""
    service = ServiceReference("default", "backend", 443)
    found = backends.target(ApiService("v1.a", "a", "v1", 1, 1, service, ca_pem, insecure), UserInfo("jane"), "/").tls
    assert found is not None
    return found


def new_backends() -> Backends:
    return Backends(lambda *_: [ServiceAddress("127.0.0.1", 443)], AggregationSettings())


@pytest.mark.parametrize("order", [1, -1], ids=["unverified first", "verified first"])
def test_a_backend_is_verified_although_another_one_is_not(order: int) -> None:
    backends = new_backends()
    modes = {insecure: context(backends, insecure=insecure).verify_mode for insecure in (True, False)[::order]}
    assert modes == {True: ssl.CERT_NONE, False: ssl.CERT_REQUIRED}


def test_a_backend_is_verified_with_its_own_ca() -> None:
    backends = new_backends()
    one, other = (make_ca(name, NOW).certificate_pem().decode() for name in ("one", "other"))
    trusted = [str(context(backends, ca_pem).get_ca_certs()) for ca_pem in (one, other)]
    assert ["'one'" in text for text in trusted] == [True, False]
    assert ["'other'" in text for text in trusted] == [False, True]

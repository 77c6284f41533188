"""Bootstrap tokens, with which new nodes join: `<id>.<secret>`, each in a Secret of kube-system.

Source: kubernetes plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go, cluster-bootstrap token/util and
util/secrets (1.36).
"""

import base64
import hmac
import logging
import re
from collections.abc import Callable

from sampan.core.clock import unix_time
from sampan.core.object import Object
from sampan.core.time import parse_time
from sampan.registry.strategy import ObjectReader
from sampan.server.authentication.authenticator import TokenUser
from sampan.server.request import UserInfo

_log = logging.getLogger("sampan.authentication")

NAMESPACE = "kube-system"
DEFAULT_GROUP = "system:bootstrappers"
_TYPE = "bootstrap.kubernetes.io/token"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


class BootstrapTokens:
    """Authenticates the bootstrap tokens of a cluster."""

    cacheable = True

    def __init__(self, reader: ObjectReader, now: Callable[[], float] = unix_time) -> None:
        self._reader = reader
        self._now = now

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown.

        If the Secret is invalid, log the reason and return None.
        """
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        identifier, secret = match.groups()
        found = self._reader.get("", "secrets", NAMESPACE, f"bootstrap-token-{identifier}")
        if found is None:
            return None
        fault = self._fault(found, identifier, secret)
        if fault:
            _log.info("bootstrap token refused", extra={"secret": found["metadata"]["name"], "error": fault})
            return None
        return TokenUser(UserInfo(f"system:bootstrap:{identifier}", groups=_groups(found)))

    def _fault(self, found: Object, identifier: str, secret: str) -> str:
        if found["metadata"].get("deletionTimestamp") is not None:
            return "is deleted and awaiting removal"
        if found.get("type") != _TYPE:
            return f"has invalid type, expected {_TYPE}"
        if not hmac.compare_digest(_data(found, "token-secret").encode(), secret.encode()):
            return "has invalid value for key token-secret"
        if _data(found, "token-id") != identifier:
            return "has invalid value for key token-id"
        if self._expired(_data(found, "expiration")):
            return "has expired"
        if _data(found, "usage-bootstrap-authentication") != "true":
            return "not marked usage-bootstrap-authentication=true"
        wrong = [group for group in _extra_groups(found) if _GROUP.fullmatch(group) is None]
        return f"has invalid value for key auth-extra-groups: {wrong[0]}" if wrong else ""

    def _expired(self, expiration: str) -> bool:
        if not expiration:
            return False
        try:
            return self._now() >= parse_time(expiration).timestamp()
        except ValueError:
            return True


def _data(secret: Object, key: str) -> str:
    return base64.b64decode((secret.get("data") or {}).get(key, "")).decode("utf-8", "replace")


def _extra_groups(secret: Object) -> list[str]:
    text = _data(secret, "auth-extra-groups")
    return text.split(",") if text else []


def _groups(secret: Object) -> tuple[str, ...]:
    return tuple(sorted({DEFAULT_GROUP, *_extra_groups(secret)}))

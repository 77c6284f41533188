"""`Impersonator`: finds the mode in which a user may impersonate another one.

Decisions are not cached: revoked rights take effect with the next request.
Source: apiserver pkg/endpoints/filters/impersonation/{constrained_impersonation,cache}.go (1.36).
"""

from collections import OrderedDict
from typing import Final

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.impersonation.metrics import ImpersonationMetrics
from sampan.server.impersonation.modes import MODES, ImpersonatedUser, impersonate_legacy
from sampan.server.request import RequestInfo, UserInfo

_CACHE_ENTRIES_MAX: Final = 10_000
_LEGACY: Final = len(MODES)


class Impersonator:
    """Tries the modes in order, starting with the one that last allowed the requester."""

    def __init__(self, authorizer: Authorizer, metrics: ImpersonationMetrics | None = None) -> None:
        self._authorizer = authorizer
        self._metrics = metrics or ImpersonationMetrics()
        self._last: OrderedDict[str, int] = OrderedDict()
        """Index of the last successful mode by the requester's name."""

    async def impersonate(self, requester: UserInfo, desired: UserInfo, info: RequestInfo) -> ImpersonatedUser:
        """Return the impersonated user for the request `info`. Raises 403 with the refusal of the first mode that was
        tried.
        """
        began = monotonic()
        try:
            found = await self._in_any_mode(requester, desired, info)
        except StatusError:
            self._metrics.denied(monotonic() - began)
            raise
        self._metrics.allowed(found.constraint, monotonic() - began)
        return found

    async def _in_any_mode(self, requester: UserInfo, desired: UserInfo, info: RequestInfo) -> ImpersonatedUser:
        refusal: StatusError | None = None
        last = self._last.get(requester.name)
        order = range(_LEGACY + 1) if last is None else (last, *(n for n in range(_LEGACY + 1) if n != last))
        for number in order:
            try:
                found = await self._in_mode(number, requester, desired, info)
            except StatusError as error:
                refusal = refusal or error
                continue
            if found is not None:
                self._remember(requester.name, number)
                return found
        assert refusal is not None, "the legacy mode applies to all users"
        raise refusal

    async def _in_mode(
        self, number: int, requester: UserInfo, desired: UserInfo, info: RequestInfo
    ) -> ImpersonatedUser | None:
        if number == _LEGACY:
            return await impersonate_legacy(self._check, requester, desired)
        return await MODES[number].impersonate(self._check, requester, desired, info)

    async def _check(self, user: UserInfo, info: RequestInfo) -> None:
        began = monotonic()
        verdict = await self._authorizer.authorize(user, info)
        self._metrics.checked(info.verb, monotonic() - began, allowed=verdict.decision is Decision.ALLOW)
        if verdict.decision is not Decision.ALLOW:
            raise forbidden_error(user, info, ": ".join(filter(None, (verdict.error, verdict.reason))))

    def _remember(self, name: str, number: int) -> None:
        self._last[name] = number
        self._last.move_to_end(name)
        if len(self._last) > _CACHE_ENTRIES_MAX:
            self._last.popitem(last=False)

"""Authorization of an extension API server by SubjectAccessReviews, which it sends to the API server in front of it.

Source: apiserver pkg/server/options/authorization.go DelegatingAuthorizationOptions (1.36).
"""

from collections.abc import Callable

from sampan.registry.webhook.client import Webhook
from sampan.server.authorization.authorizer import ALLOWED, Verdict
from sampan.server.authorization.webhook.authorizer import WebhookAuthorizer, WebhookRules
from sampan.server.request import RequestInfo, UserInfo

ALWAYS_ALLOWED = frozenset({"/healthz", "/livez", "/readyz"})
TTL_S = 10.0


class DelegatedAuthorizer:
    """Allows health endpoints and everything that the API server allows. Caches decisions for ten seconds.

    `reviews` posts SubjectAccessReviews. `clock` returns monotonic seconds.
    """

    def __init__(self, reviews: Webhook, clock: Callable[[], float]) -> None:
        rules = WebhookRules(timeout_s=10.0, authorized_ttl_s=TTL_S, unauthorized_ttl_s=TTL_S)
        self._reviews = WebhookAuthorizer(reviews, rules, clock)

    async def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Return the verdict."""
        if not info.is_resource and info.path in ALWAYS_ALLOWED:
            return ALLOWED
        return await self._reviews.authorize(user, info)

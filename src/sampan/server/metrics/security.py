"""`SecurityMetrics`: metrics of authentication and authorization that are not counted per request."""

from collections.abc import Iterable

from prometheus_client.core import Metric

from sampan.server.authentication.metrics import IssuerMetrics, TokenCacheMetrics
from sampan.server.authorization.metrics import AuthorizationMetrics
from sampan.server.instruments.reloads import ReloadMetrics, hash_of


class SecurityMetrics:
    """Prometheus collector of authentication and authorization, of one server."""

    def __init__(self, server_id: str = "") -> None:
        """`server_id` identifies the server. Metrics show its hash."""
        shown = hash_of(server_id)
        self.tokens = TokenCacheMetrics()
        self.issuers = IssuerMetrics(shown)
        self.authorization = AuthorizationMetrics()
        self.authentication_config = ReloadMetrics("authentication", shown)
        self.authorization_config = ReloadMetrics("authorization", shown)

    def collect(self) -> Iterable[Metric]:
        """Return all families for Prometheus."""
        configurations = (self.authentication_config, self.authorization_config)
        for each in (self.tokens, self.issuers, self.authorization, *configurations):
            yield from each.collect()

"""From the settings of a server to those of its flow control."""

from sampan.app.settings import UpSettings
from sampan.server.flow_control.settings import FlowControlSettings


def flow_control_settings(settings: UpSettings) -> FlowControlSettings:
    """How many requests run at once, and who decides."""
    return FlowControlSettings(
        settings.enable_priority_and_fairness,
        settings.max_requests_inflight,
        settings.max_mutating_requests_inflight,
        settings.request_timeout_s,
    )

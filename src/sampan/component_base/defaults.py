"""Defaults of settings. This module imports nothing, so that the command line can show them quickly."""

from typing import Final

CLUSTER_CIDR: Final = "10.128.0.0/9"
"""Default range of Pod addresses. It does not overlap with the Services' 10.96.0.0/12."""
LEGACY_TOKEN_CLEAN_UP_PERIOD_S: Final = 365 * 24 * 3600.0
DISCOVERY_PERIOD_S: Final = 30.0
"""Period in which the garbage collector looks for new kinds."""
NAMESPACE_GRACE_S: Final = 5.0
"""As in kube-controller-manager. Source: pkg/controller/namespace/namespace_controller.go (1.36)."""

"""The controller: sources put requests into a work queue, workers take them out and reconcile."""

from sampan.operator.controller.context import ReconcileContext, ReconcileLogFilter, current_reconcile
from sampan.operator.controller.controller import CacheSyncTimeout, Controller, ReconcileTimeout
from sampan.operator.controller.failing import FailingObject
from sampan.operator.controller.metrics import ControllerMetrics
from sampan.operator.controller.options import ControllerOptions

__all__ = [
    "CacheSyncTimeout",
    "Controller",
    "ControllerMetrics",
    "ControllerOptions",
    "FailingObject",
    "ReconcileContext",
    "ReconcileLogFilter",
    "ReconcileTimeout",
    "current_reconcile",
]

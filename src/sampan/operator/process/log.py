"""The log of an operator's process: the fields of the running reconcile, and a level for each controller."""

import logging
from collections.abc import Mapping, Sequence

from sampan.core.telemetry.log import configure_logging
from sampan.operator.controller.context import CURRENT_RECONCILE
from sampan.operator.settings import OperatorSettings


class ReconcileFields(logging.Filter):
    """Adds `controller`, `request` and `reconcile_id` to the records of a reconcile, and nothing to other records."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields and return True."""
        reconcile = CURRENT_RECONCILE.get()
        if reconcile is not None:
            for name, value in reconcile.fields().items():
                record.__dict__.setdefault(name, value)
        return True


class LevelsByName(logging.Filter):
    """Passes records by the level of their controller, else of their logger or its closest parent, else of `base`."""

    def __init__(self, levels: Mapping[str, int], base: int) -> None:
        super().__init__()
        self._levels, self._base = levels, base

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record is severe enough."""
        return record.levelno >= self._level_of(str(getattr(record, "controller", "")), record.name)

    def _level_of(self, controller: str, logger: str) -> int:
        if controller in self._levels:
            return self._levels[controller]
        while logger:
            if logger in self._levels:
                return self._levels[logger]
            logger = logger.rpartition(".")[0]
        return self._base


def set_up_log(settings: OperatorSettings) -> None:
    """Send the records of the process to standard error."""
    levels = {name: _number(level) for name, level in settings.log_levels}
    base = _number(settings.log.level)
    configure_logging(_lowest([base, *levels.values()]), settings.log.format)
    for handler in logging.getLogger().handlers:
        handler.addFilter(ReconcileFields())
        if levels:
            handler.addFilter(LevelsByName(levels, base))


def _number(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _lowest(levels: Sequence[int]) -> str:
    return logging.getLevelName(min(levels))

"""`LogSettings`: the log of a process."""

from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import one_of

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("auto", "console", "text", "json")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Settings of the log on standard error."""

    level: str = setting(
        "info", "Least severe records that are logged. debug logs every request.", kind=one_of(*LEVELS)
    )
    format: str = setting(
        "auto", "Format of the log: auto is console on a terminal, else text (key=value).", kind=one_of(*FORMATS)
    )

"""`LogSettings`: the log of a process."""

from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import one_of

LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("text", "json")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Settings of the log on standard error."""

    level: str = setting(
        "info", "Least severe records that are logged. debug logs every request.", kind=one_of(*LEVELS)
    )
    format: str = setting("text", "Format of the log: text is key=value.", kind=one_of(*FORMATS))

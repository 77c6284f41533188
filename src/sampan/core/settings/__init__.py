"""Settings that are declared once: the fields of dataclasses, from which options, files and documentation are made.

@dataclass(frozen=True, slots=True)
class FlowControlSettings:
    max_requests_inflight: int = setting(400, "Reading requests that run at once; 0: no limit.")

find("max-requests-inflight", settings_of(FlowControlSettings())).read(["10"])     # 10
"""

from sampan.core.settings.declare import nested, setting, variants
from sampan.core.settings.kinds import ListOf, ValueKind
from sampan.core.settings.tree import Setting, build, settings_of

__all__ = ["ListOf", "Setting", "ValueKind", "build", "nested", "setting", "settings_of", "variants"]

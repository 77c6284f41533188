"""Settings that the API server and `sampan up` both have, declared once.

profiling: bool = profiling_setting(group="Observability")
"""

from functools import partial

from sampan.core.settings import setting
from sampan.core.settings.kinds import TEXTS

cors_allowed_origins_setting = partial(
    setting,
    (),
    "Regular expression of origins for CORS. Can be repeated.",
    name="cors-allowed-origin",
    kind=TEXTS,
)
profiling_setting = partial(setting, True, "Serve /debug/pprof/ to users that may do everything.")

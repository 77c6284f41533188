"""Settings that the API server and `sampan up` both have, declared once.

profiling: bool = profiling_setting(group="Observability")
"""

from functools import partial

from sampan.core.settings import setting
from sampan.core.settings.kinds import TEXTS, ValueKind, list_of


def _read_directive(text: str) -> str:
    name, equals, _ = text.partition("=")
    if text not in ("includeSubDomains", "preload") and not (name == "max-age" and equals and text.count("=") == 1):
        raise ValueError(f"{text!r} is not max-age=SECONDS, includeSubDomains or preload")
    return text


cors_allowed_origins_setting = partial(
    setting,
    (),
    "Regular expression of origins for CORS. Can be repeated.",
    name="cors-allowed-origin",
    kind=TEXTS,
)
hsts_directives_setting = partial(
    setting,
    (),
    "Directives of the header Strict-Transport-Security: max-age=SECONDS, includeSubDomains, preload. Without one, "
    "responses do not have the header.",
    name="strict-transport-security-directives",
    kind=list_of(ValueKind("DIRECTIVE", _read_directive), metavar="DIRECTIVES"),
)
profiling_setting = partial(setting, True, "Serve /debug/pprof/ to users that may do everything.")

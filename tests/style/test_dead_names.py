"""Every name in `src` is used: by the product, its tests, its examples or its benchmarks.

vulture finds definitions whose name appears nowhere else. Names that others than our Python code use are in
`FOREIGN_NAMES`, with their user.
"""

from fnmatch import fnmatchcase

from vulture import Vulture

from tests.style.sources import GENERATED, ROOT, name_of

FOLDERS = ("src", "tests", "examples", "benchmarks")
DECORATORS = ["@click.*", "@*.command*"]
"""Their functions become commands, by the decorator."""
FOREIGN_NAMES = (
    # pytest and click call these; a shell's completion calls the program.
    "pytest_*",
    "__signature__",
    "kubectl_complete_sampan",
    "format_options",
    "invoke_without_command",
    "no_args_is_help",
    "param_decls",
    # asyncio, httptools, h2, ssl and google-re2 read these.
    "datagram_received",
    "error_received",
    "on_*",
    "MAX_CLOSED_STREAMS",
    "local_settings",
    "max_inbound_frame_size",
    "num_tickets",
    "_msg_callback",
    "log_errors",
    "max_size",
    "_ssl_buffer_view",
    "never_capture",
    # mypy calls it.
    "get_method_hook",
    # `copy` calls its parameter so.
    "memo",
    # `random.Random` calls its parameter so.
    "population",
    # Annotations name these in quotes.
    "Manifest",
    "Others",
    # Fields of messages: protobuf, msgspec and typed dictionaries look them up by name.
    "cluster_trust_bundle",
    "CONNECT",
    "list_failures",
    "localhost_ref",
    "lost_response",
    "match_policy",
    "no_status",
    "object_selector",
    "reinvocation_policy",
    "request_kind",
    "request_sub_resource",
    "run_as_username",
    "spec_vol_id",
    "start_revision",
    "time_added",
    "unique_items",
    "volume_lifecycle_mode",
)
FIELDS_OF_KINDS = "src/sampan/registry/kinds/"
"""Camel-case fields in here are columns of field selectors, which read them by name."""


def is_foreign(name: str, path: str) -> bool:
    """Return whether something other than a Python name refers to this definition."""
    if path.startswith(GENERATED) or any(fnmatchcase(name, pattern) for pattern in FOREIGN_NAMES):
        return True
    return path.startswith(FIELDS_OF_KINDS) and name != name.lower()


def test_every_name_is_used() -> None:
    vulture = Vulture(ignore_decorators=DECORATORS)
    vulture.scavenge([str(ROOT / folder) for folder in FOLDERS])
    dead = [
        f"{name_of(item.filename)}:{item.first_lineno}: {item.typ} {item.name}"
        for item in vulture.get_unused_code()
        if (ROOT / "src") in item.filename.parents and not is_foreign(item.name, name_of(item.filename))
    ]
    assert dead == []

"""`run`: the warm parent: a process with all modules imported, from which servers fork."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sampan.cli.test_server.apiserver_arguments import read_settings
from sampan.schema.builtin import Definitions
from sampan.test_server.place import TEMPLATE
from sampan.test_server.server_process import Inherited
from sampan.test_server.template_process import template_credentials
from sampan.test_server.warm_parent import IDLE_S, WarmParent


def run(directory: Path) -> None:
    """Run the warm parent until it is idle."""
    template = directory / TEMPLATE
    inherited = Inherited(read_settings, Definitions(), template, template_credentials(template), {})
    idle_s = float(os.environ.get("SAMPAN_TEST_IDLE_S", IDLE_S))
    WarmParent(directory, inherited, _current_code(), idle_s).run()


def _current_code() -> Callable[[], bool]:
    """Return a function that returns True if the files of the imported modules are unchanged."""
    files = [file for name, module in list(sys.modules.items()) if name.startswith("sampan") for file in _file(module)]
    begin = _times(files)
    return lambda: _times(files) == begin


def _file(module: object) -> list[str]:
    file = getattr(module, "__file__", None)
    return [file] if file else []


def _times(files: list[str]) -> list[int]:
    found = []
    for file in files:
        with suppress(OSError):
            found.append(os.stat(file).st_mtime_ns)
    return found

"""`main` and `run`: start an operator's process.

    def set_up(manager: Manager) -> None:
        Builder(manager).for_(Boat).complete(reconcile)

    if __name__ == "__main__":
        main(set_up, name="boats")

The parts of a process load further packages (YAML, certificates). So they are imported here when a process starts, and
tests of reconcilers start without them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, TypeVar, overload

from sampan.operator.manager import Manager, ManagerOptions
from sampan.operator.settings import OperatorSettings

S = TypeVar("S")

_START: Final = "sampan.operator.process.start"
_ABOUT: Final = "Operator. Flags override the environment variables in brackets; both override the settings file."


@overload
def main(
    set_up: Callable[[Manager], Awaitable[None] | None],
    *,
    name: str,
    about: str = ...,
    defaults: OperatorSettings = ...,
    options: ManagerOptions = ...,
    arguments: Sequence[str] | None = ...,
    environ: Mapping[str, str] | None = ...,
) -> None: ...


@overload
def main(
    set_up: Callable[[Manager, S], Awaitable[None] | None],
    *,
    name: str,
    settings: S,
    about: str = ...,
    defaults: OperatorSettings = ...,
    options: ManagerOptions = ...,
    arguments: Sequence[str] | None = ...,
    environ: Mapping[str, str] | None = ...,
) -> None: ...


def main(
    set_up: Callable[..., Any],
    *,
    name: str,
    settings: Any = None,
    about: str = _ABOUT,
    defaults: OperatorSettings = OperatorSettings(),
    options: ManagerOptions = ManagerOptions(),
    arguments: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run an operator's process: read its flags, connect, set up, run until SIGTERM or SIGINT, and shut down.

    `set_up` adds controllers to the manager; it may be asynchronous. `name` is the program's name, field manager and
    Lease. `settings` is an instance of a dataclass with fields of `sampan.core.settings.setting`: they become flags as
    well, and `set_up` gets the instance with the user's values as second argument. `defaults` are other defaults of the
    process's own flags. `options` are further options of the manager. `arguments` and `environ` default to those of the
    process.

    Raises `SystemExit`: code 1 with one line in the log after a failure, 2 after a wrong flag. A graceful end returns.
    """
    module = import_module(_START)
    begun = module.Start(set_up, name, about, settings, defaults, options)
    module.start(begun, None if arguments is None else list(arguments), environ)


async def run(manager: Manager, settings: OperatorSettings = OperatorSettings()) -> None:
    """Run a manager that the caller has made, with the parts of a process that `main` adds.

    These are the metrics server, the checks before the start, the detection of a blocked event loop, and signals. The
    manager's options apply to health probes, leader election and shutdown; the log is the caller's.

    Raises the errors of `Manager.run`, and `NoConnection` if the server cannot be used.
    """
    await import_module(_START).run_manager(manager, settings)

"""Entry points of the programs. This module imports little, so that Ctrl-C during startup prints no traceback."""

import signal
from importlib import import_module


def sampan() -> None:
    """Run `sampan`."""
    _run("sampan.cli.main")


def kubectl_sampan() -> None:
    """Run `kubectl-sampan`."""
    _run("sampan.cli.kubectl.main")


def kubectl_complete_sampan() -> None:
    """Run `kubectl_complete-sampan`."""
    _run("sampan.cli.kubectl.completion")


def _run(module: str) -> None:
    """Import a module and call its `main`.

    During the import SIGINT ends the process at once: KeyboardInterrupt would print a traceback from inside the import.
    """
    interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interrupts:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    main = import_module(module).main
    if interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        main()
    finally:
        if interrupts:  # a second Ctrl-C ends the process at once, without a traceback from inside its exit
            signal.signal(signal.SIGINT, signal.SIG_DFL)

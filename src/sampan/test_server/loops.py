"""Control loops of a test server. They run on its event loop and reach it without a connection."""

import asyncio
from importlib import import_module
from typing import Any, Final

from sampan.server.apiserver import ApiServer
from sampan.test_server.protocol import DEFAULT_LOOPS

NONE: Final = "none"
TAINT_NODES: Final = "TaintNodesByCondition"
"""Admission plug-in that creates Nodes with a taint, which the node-lifecycle-controller removes."""
_MODULE: Final = "sampan.test_server.loops_beside"


def import_loops() -> Any:
    """Import the loops, which takes longer than the start of a server."""
    return import_module(_MODULE)


def check_loops(text: str) -> None:
    """Raise `ValueError` for names that are unknown; see `sampan.testing.control_loops.sets`."""
    if text not in (DEFAULT_LOOPS, NONE):
        import_loops().chosen_loops(text)


def leaves_taints(text: str) -> bool:
    """Return True if nodes run, but no loop removes the taint with which admission creates a Node."""
    return text not in (DEFAULT_LOOPS, NONE) and import_loops().chosen_loops(text).leaves_taints


async def run_beside(api: ApiServer, token: str, names: str) -> None:
    """Run loops until cancelled. They are imported in a thread, because the server serves already."""
    if names != NONE:
        module = await asyncio.to_thread(import_loops)
        await module.run_beside(api, token, names)

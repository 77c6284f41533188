"""Detection of whether containers can have their own namespaces on this machine."""

import logging
import os
from pathlib import Path
from typing import Final, Literal

from sampan.node.beneath import remove_tree
from sampan.node.process.launch import Launcher, LaunchError, LaunchSpec, View
from sampan.node.process.streams.stdio import open_stdio
from sampan.node.sessions import Streams

Isolation = Literal["auto", "namespaces", "none"]
"""`auto`: use namespaces if they work."""

_TRIAL: Final = ("/bin/sh", "-c", ":")
_log = logging.getLogger("sampan.node")


async def namespaces_work(launcher: Launcher, directory: Path) -> bool:
    """Return whether a program that does nothing can be run in namespaces.

    `directory`: created for the attempt, then deleted.
    """
    inner_ids = None if os.geteuid() == 0 else (os.getuid(), os.getgid())
    program = LaunchSpec(_TRIAL, {}, view=View("/", str(directory)), inner_ids=inner_ids)
    stdio = open_stdio(Streams(stdout=False, stderr=False))
    try:
        os.makedirs(directory, exist_ok=True)
        process = await launcher.launch(program, stdio, lambda pid: None)
        return await process.wait() == 0
    except (LaunchError, OSError) as error:
        _log.info("cannot create namespaces, running containers without them: %s", error)
        return False
    finally:
        stdio.close()
        remove_tree(directory)

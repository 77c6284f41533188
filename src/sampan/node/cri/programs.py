"""`run`: runs a program of the machine that configures its network."""

import asyncio
import shutil
from typing import Final

_PACKAGES: Final = {"nft": "nftables", "ip": "iproute2"}


async def run(program: str, *arguments: str, text: str = "") -> str:
    """Run a program, and return its output. `text`: its standard input. Raises `OSError`."""
    if shutil.which(program) is None:
        raise OSError(f"{program} is not installed: install the package {_PACKAGES[program]}")
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.PIPE if text else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, fault = await process.communicate(text.encode() or None)
    if process.returncode:
        raise OSError(f"{program} {' '.join(arguments)}: {fault.decode(errors='replace').strip()}")
    return output.decode()

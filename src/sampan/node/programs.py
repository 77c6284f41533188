"""`run`: runs a program of the machine that configures its network."""

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_PACKAGES: Final = {
    "nft": "nftables",
    "ip": "iproute2",
    "modprobe": "kmod",
    "iptables": "iptables",
    "ip6tables": "iptables",
    "iptables-legacy": "iptables",
    "ip6tables-legacy": "iptables",
}


async def run(program: str, *arguments: str, text: str = "") -> str:
    """Run a program, and return its output. `text`: its standard input. Raises `OSError`."""
    if shutil.which(program) is None:
        raise OSError(f"{program} is not installed: install the package {_PACKAGES[program]}")
    return await _output(program, *arguments, text=text)


async def run_plugin(program: Path, environment: Mapping[str, str], text: str) -> str:
    """Run a CNI plug-in with a configuration, and return its result. Raises `OSError`."""
    return await _output(str(program), text=text, environment=environment)


async def _output(program: str, *arguments: str, text: str, environment: Mapping[str, str] | None = None) -> str:
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.PIPE if text else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        output, fault = await process.communicate(text.encode() or None)
    except asyncio.CancelledError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
        raise
    if process.returncode:
        # A CNI plug-in writes its error to its standard output.
        reason = (fault or output).decode(errors="replace").strip()
        raise OSError(f"{' '.join([program, *arguments])}: {reason}")
    return output.decode()

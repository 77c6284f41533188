"""`open_nft`: runs commands of nft, the commands of each call as one transaction of the kernel.

libnftables runs in this process: a small change takes less than 1 ms. With a process of `nft`, it takes 10 ms. Without
the library, `nft` runs as a process. Both act in the network namespace of the thread that opens them.
"""

import ctypes
import subprocess
from typing import Final, Protocol

from sampan.component_base.nftables.errors import NftError, NftMissing

_LIBRARY: Final = "libnftables.so.1"
_PROGRAM: Final = "nft"
_MESSAGE_LENGTH_MAX: Final = 400
_TIMEOUT_S: Final = 60.0


class Nft(Protocol):
    """Runs commands of nft."""

    def run(self, commands: str) -> str:
        """Run all commands or none, and return their output. Raises `NftError`."""
        ...


class NftLibrary:
    """libnftables in this process. Not safe for several threads at once."""

    def __init__(self) -> None:
        """Raises `OSError` if the library is not installed."""
        library = ctypes.CDLL(_LIBRARY)
        library.nft_ctx_new.restype = ctypes.c_void_p
        library.nft_run_cmd_from_buffer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        for name in ("nft_ctx_buffer_output", "nft_ctx_buffer_error", "nft_ctx_free"):
            getattr(library, name).argtypes = [ctypes.c_void_p]
        for name in ("nft_ctx_get_output_buffer", "nft_ctx_get_error_buffer"):
            function = getattr(library, name)
            function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_char_p
        self._library = library
        self._context = library.nft_ctx_new(0)
        library.nft_ctx_buffer_output(self._context)
        library.nft_ctx_buffer_error(self._context)

    def run(self, commands: str) -> str:
        """Run all commands or none, and return their output. Raises `NftError`."""
        failed = self._library.nft_run_cmd_from_buffer(self._context, commands.encode())
        # Each call empties its buffer, so both are read.
        output = self._library.nft_ctx_get_output_buffer(self._context)
        error = self._library.nft_ctx_get_error_buffer(self._context)
        if failed:
            raise NftError(_first_error(error.decode(errors="replace")))
        # `str` only for the type checker: ctypes returns Any.
        return str(output.decode(errors="replace"))


class NftProgram:
    """A process of `nft` for each transaction."""

    def __init__(self, program: str = _PROGRAM) -> None:
        self._program = program

    def run(self, commands: str) -> str:
        """Run all commands or none, and return their output. Raises `NftError`, `NftMissing`."""
        try:
            done = subprocess.run(
                [self._program, "-f", "-"], input=commands, capture_output=True, text=True, timeout=_TIMEOUT_S
            )
        except FileNotFoundError:
            raise NftMissing from None
        except subprocess.TimeoutExpired:
            raise NftError(f"{self._program} did not end within {_TIMEOUT_S:g} seconds") from None
        if done.returncode:
            raise NftError(_first_error(done.stderr))
        return done.stdout


def open_nft() -> Nft:
    """Return libnftables, or the program if the library is not installed."""
    try:
        return NftLibrary()
    except OSError:
        return NftProgram()


def _first_error(text: str) -> str:
    """Return the first line with an error; further lines show the text of the commands."""
    # "rror" matches "Error:" and "error:".
    lines = [line.strip() for line in text.splitlines() if "rror" in line or "denied" in line or "permitted" in line]
    return " ".join(lines[:1] or [text.strip()])[:_MESSAGE_LENGTH_MAX] or "nft failed without a message"

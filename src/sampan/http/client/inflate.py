"""`Inflater`: incremental decompression of gzip bodies with any number of members."""

from collections.abc import Iterator

from isal import igzip_lib, isal_zlib

PIECE_BYTES_MAX = 1 << 20
_GZIP = 31


class Inflater:
    """Decompressor of a gzip stream. A small body may expand to a huge one, so pieces are bounded and lazy."""

    def __init__(self) -> None:
        self._member = isal_zlib.decompressobj(wbits=_GZIP)
        self._begun = False

    @property
    def finished(self) -> bool:
        """True if the data so far is empty or ends with a whole member."""
        return self._member.eof or not self._begun

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Yield `data` decompressed, in pieces of `PIECE_BYTES_MAX`. Raises `ValueError` if it is not gzip."""
        while data:
            if self._member.eof:
                self._member = isal_zlib.decompressobj(wbits=_GZIP)
            self._begun = True
            try:
                piece = self._member.decompress(data, PIECE_BYTES_MAX)
            except igzip_lib.IsalError as error:  # type: ignore[misc]  # the stub takes the class for an instance
                raise ValueError(f"bad gzip data: {error}") from error
            if piece:
                yield piece
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

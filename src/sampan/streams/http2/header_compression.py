"""HPACK with bounds: the work for one header block grows linearly with its size, and tables stay small.

The decoder of the hpack library copies the rest of the block for each literal field, and accepts any number of table
size updates. One block of 600 KB would keep the event loop busy for seconds. Its encoder uses a table of any size that
the client requests.
Source: RFC 7541; golang.org/x/net http2/server.go, hpack/encode.go.
"""

from collections.abc import Iterable

from hpack import Decoder, Encoder, HeaderTuple, NeverIndexedHeaderTuple
from hpack.exceptions import HPACKDecodingError, InvalidTableSizeError, OversizedHeaderListError
from hpack.huffman_table import decode_huffman

TABLE_BYTES_MAX = 4096
"""Maximum size of the table for response headers, even if the client allows a larger one. Go's server has the same
limit.
"""
HUFFMAN_BYTES_MAX = 128 << 10
"""Maximum number of Huffman-coded bytes in one header block. Decoding takes about 0.4 µs a byte, or 50 ms in total."""
FIELDS_MAX = 4096
"""Maximum number of fields in one header block. The h2 library needs about 10 µs to validate one."""
_TABLE_SIZE_UPDATES_MAX = 2
"""Maximum number of table size updates at the start of a block. An encoder needs two: the smallest size since the last
block, and the current size.
"""
_FIELD_OVERHEAD_BYTES = 32
_INTEGER_SHIFT_MAX = 28


class BoundedEncoder(Encoder):
    """Encoder whose dynamic table holds at most `TABLE_BYTES_MAX` bytes."""

    @property
    def header_table_size(self) -> int:
        """Size of the dynamic table in bytes."""
        return self.header_table.maxsize

    @header_table_size.setter
    def header_table_size(self, value: int) -> None:
        size = min(value, TABLE_BYTES_MAX)
        if size != self.header_table.maxsize:
            self.header_table.maxsize = size
            smallest = min([*self.table_size_changes, size])
            self.table_size_changes[:] = [smallest, size] if smallest < size else [size]


class BoundedDecoder(Decoder):
    """Decoder that reads a block in one pass."""

    def decode(self, data: bytes, raw: bool = False) -> Iterable[HeaderTuple]:
        """Return the fields of a header block as bytes. Raises `hpack.exceptions.HPACKError`."""
        assert raw, "names and values are kept as bytes"
        try:
            return _Block(self, data).fields()
        except IndexError as error:
            raise HPACKDecodingError("Truncated header block") from error


class _Block:
    """One header block while it is decoded."""

    def __init__(self, decoder: Decoder, data: bytes) -> None:
        self._decoder = decoder
        self._table = decoder.header_table
        self._data = data
        self._at = 0
        self._huffman_bytes = 0

    def fields(self) -> list[HeaderTuple]:
        """Return the decoded fields. Raises `IndexError` if the block is truncated."""
        data, table = self._data, self._table
        found: list[HeaderTuple] = []
        size, size_max = 0, self._decoder.max_header_list_size
        self._update_table_size()
        while self._at < len(data):
            first = data[self._at]
            if first & 0x80:
                header = HeaderTuple(*table.get_by_index(self._integer(0x7F)))
            elif first & 0x40:
                header = HeaderTuple(*self._literal(0x3F))
                table.add(*header)
            elif first & 0x20:
                raise HPACKDecodingError("Table size update not at the start of the block")
            else:
                header = (NeverIndexedHeaderTuple if first & 0x10 else HeaderTuple)(*self._literal(0x0F))
            found.append(header)
            size += len(header[0]) + len(header[1]) + _FIELD_OVERHEAD_BYTES
            if size > size_max or len(found) > FIELDS_MAX:
                raise OversizedHeaderListError(f"A header list larger than {size_max} has been received")
        return found

    def _update_table_size(self) -> None:
        decoder, updates = self._decoder, 0
        while self._at < len(self._data) and self._data[self._at] & 0xE0 == 0x20:
            updates += 1
            if updates > _TABLE_SIZE_UPDATES_MAX:
                raise OversizedHeaderListError("Too many table size updates")
            size = self._integer(0x1F)
            if size > decoder.max_allowed_table_size:
                raise InvalidTableSizeError("Encoder exceeded max allowable table size")
            decoder.header_table_size = size
        if decoder.header_table_size > decoder.max_allowed_table_size:
            raise InvalidTableSizeError("Encoder did not shrink table size to within the max")

    def _integer(self, mask: int) -> int:
        """Read an integer whose first bits are those of `mask` in the current byte (RFC 7541, 5.1)."""
        value = self._data[self._at] & mask
        self._at += 1
        if value < mask:
            return value
        for shift in range(0, _INTEGER_SHIFT_MAX + 1, 7):
            byte = self._data[self._at]
            self._at += 1
            value += (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise HPACKDecodingError("Variable integer representation is too long")

    def _literal(self, mask: int) -> tuple[bytes, bytes]:
        index = self._integer(mask)
        name = self._table.get_by_index(index)[0] if index else self._string()
        return name, self._string()

    def _string(self) -> bytes:
        is_huffman = self._data[self._at] & 0x80
        length = self._integer(0x7F)
        value = self._data[self._at : self._at + length]
        if len(value) != length:
            raise HPACKDecodingError("Truncated header block")
        self._at += length
        if not is_huffman:
            return value
        self._huffman_bytes += length
        if self._huffman_bytes > HUFFMAN_BYTES_MAX:
            raise OversizedHeaderListError(f"More than {HUFFMAN_BYTES_MAX} Huffman-coded bytes in a header block")
        return decode_huffman(value)

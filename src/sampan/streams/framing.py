"""`framed`: state of an HTTP/2 connection, on the h2 library, with the settings of a session."""

from typing import Final

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes, Settings

from sampan.streams.http2.header_compression import BoundedDecoder, BoundedEncoder
from sampan.streams.limits import StreamLimits

_HEADER_BYTES_MAX: Final = 4096
_CONNECTION_WINDOW_BYTES: Final = (1 << 31) - 1
"""No bound: those are the windows of the streams, and `waiting_bytes_max`. So no stream waits for another one."""
_DEFAULT_WINDOW_BYTES: Final = 65_535


class _Connection(H2Connection):
    MAX_CLOSED_STREAMS = 1024


def framed(limits: StreamLimits, *, opens: bool) -> H2Connection:
    """Return the state of a new connection. Its first frames are ready to be sent. `opens`: this end opens streams."""
    config = H2Configuration(
        client_side=opens, header_encoding=None, validate_outbound_headers=False, normalize_outbound_headers=False
    )
    h2 = _Connection(config)
    values = {
        SettingCodes.INITIAL_WINDOW_SIZE: limits.window_bytes,
        SettingCodes.MAX_FRAME_SIZE: limits.frame_bytes_max,
        SettingCodes.MAX_HEADER_LIST_SIZE: _HEADER_BYTES_MAX,
        SettingCodes.MAX_CONCURRENT_STREAMS: limits.streams_max,
    }
    values[SettingCodes.ENABLE_PUSH if opens else SettingCodes.ENABLE_CONNECT_PROTOCOL] = 0 if opens else 1
    h2.local_settings = Settings(client=opens, initial_values=values)
    h2.max_inbound_frame_size = limits.frame_bytes_max
    h2.decoder, h2.encoder = BoundedDecoder(_HEADER_BYTES_MAX), BoundedEncoder()
    h2.initiate_connection()
    h2.increment_flow_control_window(_CONNECTION_WINDOW_BYTES - _DEFAULT_WINDOW_BYTES)
    return h2

"""SPDY/3.1, limited to the part that clients of a node use: several streams in one connection."""

from sampan.node.server.spdy.connection import SpdyConnection
from sampan.node.server.spdy.frames import SpdyError
from sampan.node.server.spdy.stream import SpdyStream

__all__ = ["SpdyConnection", "SpdyError", "SpdyStream"]

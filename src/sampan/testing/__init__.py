"""Virtual time and fakes, for tests of control loops."""

from sampan.testing.virtual_time import Deadlock, VirtualTimeLoop, elapsed, run_virtual, settle, virtual_time

__all__ = ["Deadlock", "VirtualTimeLoop", "elapsed", "run_virtual", "settle", "virtual_time"]

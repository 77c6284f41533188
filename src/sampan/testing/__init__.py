"""What tests of control loops need: virtual time, fakes of the seams."""

from sampan.testing.virtual_time import Deadlock, VirtualTimeLoop, elapsed, run_virtual, settle, virtual_time

__all__ = ["Deadlock", "VirtualTimeLoop", "elapsed", "run_virtual", "settle", "virtual_time"]

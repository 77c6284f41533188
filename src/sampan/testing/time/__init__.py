"""Event loops with another clock: virtual time jumps to the next timer, scaled time runs faster than the real one."""

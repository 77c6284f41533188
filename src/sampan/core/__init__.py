"""Object model: names of types, metadata, Status errors, selectors, quantities, time. Pure functions without I/O."""

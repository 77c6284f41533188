"""What an object is: names of types, metadata, Status errors, selectors, quantities, time. Pure, no I/O."""

"""Past states of a store: how long they are kept, and how they are found."""

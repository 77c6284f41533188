"""Cost of expressions: estimates before they run, and the budget while they run."""

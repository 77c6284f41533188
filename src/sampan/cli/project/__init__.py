"""Commands on projects of operators."""

"""Speed of a service proxy."""

"""A kind for the symptoms, and an object of it."""

"""How long a single request keeps an unrelated client of the same server waiting."""

"""The documentation site: its pages, and how they look and work in a browser."""

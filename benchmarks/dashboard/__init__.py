"""Speed and size of the dashboard in a real browser."""

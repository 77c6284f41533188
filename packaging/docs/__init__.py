"""The documentation of Sampan, and a server for it on loopback."""

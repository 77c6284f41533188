"""The speed of `sampan.testing`: clusters in the process, virtual time, the pytest plug-in."""

"""Checks of how Sampan installs: wheels for each platform, and installed sizes."""

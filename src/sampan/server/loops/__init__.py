"""Startup steps and loops that maintain the objects that the server itself owns."""

"""Tests of what the project is handed out as."""

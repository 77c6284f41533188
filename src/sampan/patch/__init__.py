"""Patch formats and field ownership: JSON, merge and strategic merge patch, server-side apply, managed fields."""

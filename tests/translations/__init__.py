"""Translated pages know the revisions of their sources, and have their structure."""

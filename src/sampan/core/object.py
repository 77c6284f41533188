"""The object while a write works on it: a plain dict in Kubernetes' JSON form; canonical JSON bytes ever after."""

from typing import Any

Object = dict[str, Any]
"""A decoded API object. Its `metadata` is a dict; absent and null fields are left out."""

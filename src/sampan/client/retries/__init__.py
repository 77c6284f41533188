"""Repetition of failed requests: delays in `backoff.py`, retries of one request, of a watch, and of a conflicting
write.
"""

"""Impersonation: the request headers, and the modes in which a user may act as another one."""

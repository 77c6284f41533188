"""Errors of the service proxy. They end the proxy with a message for the administrator."""


class ServiceProxyError(Exception):
    """The machine cannot run a service proxy."""

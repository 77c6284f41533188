"""The EndpointSlice controller: writes the Pods of a Service to slices of at most 100 endpoints."""

from sampan.controllers.endpoint_slices.controller import set_up

__all__ = ["set_up"]

"""The Endpoints controller: writes the Pods of a Service to an Endpoints object, the older API."""

from sampan.controllers.endpoints.controller import set_up

__all__ = ["set_up"]

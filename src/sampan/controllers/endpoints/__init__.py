"""The Endpoints controller: where the Pods of a Service are, in the older form."""

from sampan.controllers.endpoints.controller import set_up

__all__ = ["set_up"]

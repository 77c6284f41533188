"""Authentication and authorization of a node's clients, by certificates, tokens and the API server."""

from sampan.node.server.trust.attributes import SubresourceAttributes, attributes_of
from sampan.node.server.trust.authentication import DelegatedAuthentication
from sampan.node.server.trust.authorization import DelegatedAuthorization
from sampan.node.server.trust.user import User

__all__ = ["DelegatedAuthentication", "DelegatedAuthorization", "SubresourceAttributes", "User", "attributes_of"]

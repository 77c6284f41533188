"""Who may ask a node: client certificates and tokens, and what the API server says of them."""

from sampan.node.server.trust.attributes import Attributes, attributes_of
from sampan.node.server.trust.authentication import Authentication
from sampan.node.server.trust.authorization import Authorization
from sampan.node.server.trust.user import User

__all__ = ["Attributes", "Authentication", "Authorization", "User", "attributes_of"]

"""What an object looks like to a program: resources, types of objects, and their metadata. No I/O."""

from sampan.resource.info import ResourceInfo
from sampan.resource.meta import Metadata, ObjectMeta, OwnerReference, meta
from sampan.resource.object_type import Object, ObjectType, dynamic

__all__ = ["Metadata", "Object", "ObjectMeta", "ObjectType", "OwnerReference", "ResourceInfo", "dynamic", "meta"]

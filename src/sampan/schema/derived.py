"""`derived`: cache the results of functions of a schema in that schema.

Results live exactly as long as the schema. So they are freed with the schemas of their cluster, or when the
CustomResourceDefinition is deleted.
"""

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sampan.schema.structural import Schema

P = ParamSpec("P")
R = TypeVar("R")


def derived(function: Callable[Concatenate[Schema, P], R]) -> Callable[Concatenate[Schema, P], R]:
    """Compute the result once for each schema and each set of further arguments, which must be hashable.

    The schema must not change after the first call.
    """

    @functools.wraps(function)
    def kept(schema: Schema, /, *args: P.args, **kwargs: P.kwargs) -> R:
        key: Any = (function, *args, *kwargs.items()) if args or kwargs else function
        results = schema.derived
        if results is None:
            results = schema.derived = {}
        elif key in results:
            found: R = results[key]
            return found
        result = results[key] = function(schema, *args, **kwargs)
        return result

    return kept

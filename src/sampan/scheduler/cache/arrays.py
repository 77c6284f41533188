"""The arrays that hold one value for each Node."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""A number for each row."""
Mask: TypeAlias = NDArray[np.bool_]
"""Yes or no for each row."""
Rows: TypeAlias = NDArray[np.intp]
"""Numbers of rows."""


def grown(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A copy whose last axis has this size; what is new is 0."""
    bigger = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
    bigger[..., : array.shape[-1]] = array
    return bigger

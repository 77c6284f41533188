"""NumPy arrays with one value per Node."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
"""One number per row."""
Mask: TypeAlias = NDArray[np.bool_]
"""One boolean per row."""
Rows: TypeAlias = NDArray[np.intp]
"""Row numbers."""


def grown(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return a copy with this size of the last axis; new elements are 0."""
    bigger = np.zeros((*array.shape[:-1], size), dtype=array.dtype)
    bigger[..., : array.shape[-1]] = array
    return bigger

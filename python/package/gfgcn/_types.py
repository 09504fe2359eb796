"""Names for types."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
"""An array of any shape and type."""

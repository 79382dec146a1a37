"""numpy, loaded on first use, and the array types that are passed around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Floats", "Matrix", "NDArray", "RowNumbers", "Vectors", "np"]

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Matrix: TypeAlias = NDArray[np.float32]
    Vectors: TypeAlias = NDArray[np.float32]  # one per row, of length one
    RowNumbers: TypeAlias = NDArray[np.intp]
else:

    class _Numpy:
        """Stands in for numpy: most commands compute nothing, and importing it takes time."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            attribute = self.__dict__[name] = getattr(numpy, name)  # cached for next time
            return attribute

    np = _Numpy()
    NDArray = Floats = Matrix = Vectors = RowNumbers = Any

"""numpy, and the arrays that are passed around; it is loaded when something is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Floats", "Matrix", "NDArray", "RowNumbers", "Vectors", "np"]

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Matrix: TypeAlias = NDArray[np.float32]
    Vectors: TypeAlias = NDArray[np.float32]  # a row each, of length one
    RowNumbers: TypeAlias = NDArray[np.intp]
else:

    class _Numpy:
        """Stands for numpy: most commands compute nothing, and loading it takes time."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            attribute = self.__dict__[name] = getattr(numpy, name)  # the next time it is at hand
            return attribute

    np = _Numpy()
    NDArray = Floats = Matrix = Vectors = RowNumbers = Any

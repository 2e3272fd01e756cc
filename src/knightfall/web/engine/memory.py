"""What lies at an address, for compiled code: an array of one record."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array


def arrays(record: Any) -> Any:
    """A function for compiled code: the array of one record that lies at an address.

    Searches and solver are called with arrays; here nobody has made any.
    """
    kind = types.Array(record, 1, "C")

    @intrinsic  # type: ignore[untyped-decorator]
    def at(typing: Any, address: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(kind)(context, builder)
            size = context.get_constant(types.intp, record.size)
            populate_array(
                array,
                data=builder.inttoptr(values[0], array.data.type),
                shape=[context.get_constant(types.intp, 1)],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return kind(types.uint64), emit

    return at

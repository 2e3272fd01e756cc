"""The disk cache of machine code, safe against damaged files and full disks.

Numba's own cache trusts its files: a truncated file makes every later run fail, and a full disk the
present one.  Here each file begins with a checksum; a file that does not match is deleted without
unpickling it, and a file that cannot be written is not kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)

_CHECKSUM = 32  # bytes


def _checksum(content: bytes) -> bytes:
    """Return the checksum of a file's content.

    It includes Numba's version, because another version must not read the file.
    """
    return hashlib.sha256(numba.__version__.encode() + content).digest()


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The cache files of one function: an index of its signatures, and machine code for each."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code to a file with a new name, and then the index."""
        overloads = self._load_index()
        former = overloads.get(key)
        base = self._index_name.removesuffix(".nbi")
        overloads[key] = name = f"{base}.{secrets.token_hex(8)}.nbc"
        self._save_data(name, data)
        self._save_index(overloads)
        if former is not None:
            self._remove(self._data_path(former))

    def load(self, key: Any) -> Any:
        """Return the code for a signature; None if there is no undamaged file."""
        name = self._load_index().get(key)
        return None if name is None else self._read(self._data_path(name))

    def _load_index(self) -> dict[Any, str]:
        found = self._read(self._index_path)
        if not isinstance(found, tuple) or len(found) != 2 or found[0] != self._source_stamp:
            return {}
        return found[1] if isinstance(found[1], dict) else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._dump((self._source_stamp, overloads)))

    def _dump(self, content: Any) -> bytes:
        written: bytes = super()._dump(content)
        return _checksum(written) + written

    def _read(self, path: str) -> Any:
        try:
            content = Path(path).read_bytes()
        except OSError:
            return None
        if content[:_CHECKSUM] == _checksum(content[_CHECKSUM:]):
            with suppress(Exception):  # unpickling can raise anything
                return pickle.loads(content[_CHECKSUM:])
        self._remove(path)
        return None

    @staticmethod
    def _remove(path: str) -> None:
        with suppress(OSError):
            os.unlink(path)


class _Folder(UserProvidedCacheLocator):  # type: ignore[misc]
    """A cache folder that may be read-only, as it is for users' code."""

    def ensure_cache_path(self) -> None:
        """Create the folder if it does not exist."""
        Path(self.get_cache_path()).mkdir(parents=True, exist_ok=True)


class _Place(CompileResultCacheImpl):  # type: ignore[misc]
    """Restricts Numba's choice of a cache folder to the one that `compile` sets."""

    _locator_classes = (_Folder,)


class MachineCode(FunctionCache):  # type: ignore[misc]
    """The disk cache of one function's machine code.  A file error in it never stops a command.

    `cannot_keep` is called with the error if a file cannot be written.
    """

    _impl_class = _Place

    def __init__(self, function: Callable[..., Any], cannot_keep: Callable[[OSError], None]):
        super().__init__(function)
        self._cache_file = _Files(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self._cannot_keep = cannot_keep

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the compiled function from the cache; None if it is not there."""
        try:
            return super().load_overload(signature, context)
        except Exception:  # undamaged but unusable: it is compiled and written again
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a compiled function to the cache, if possible."""
        try:
            super().save_overload(signature, compiled)
        except OSError as error:
            self._cannot_keep(error)

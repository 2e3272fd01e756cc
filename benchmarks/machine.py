"""The machine that the figures were measured on."""

from __future__ import annotations

import datetime
import platform
from pathlib import Path

import llvmlite.binding
import numba
import numpy

import knightfall
from knightfall.processor_cores import cores, load

from .cpp_build import compiler_version


def processor() -> str:
    """Return the processor's model name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe() -> dict[str, str | int]:
    """Return the machine and the versions of everything that compiles or runs code on it."""
    busy = load()
    return {
        "processor": f"{processor()} ({llvmlite.binding.get_host_cpu_name()})",
        "cores": cores(),
        "load average before the run": "unknown" if busy is None else f"{busy:.2f}",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "NumPy": numpy.__version__,
        "Numba": numba.__version__,
        "LLVM": ".".join(str(part) for part in llvmlite.binding.llvm_version_info),
        "C++ compiler": compiler_version(),
        "knightfall": knightfall.__version__,
        "date": datetime.date.today().isoformat(),
    }

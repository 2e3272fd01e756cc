"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import llvmlite.binding
import numba
import numpy

import knightfall

from .cpp_build import compiler_version


def _processor() -> str:
    """The model's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe() -> dict[str, str | int]:
    """The machine and the versions of everything that compiles or runs code on it."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    load = f"{os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": f"{_processor()} ({llvmlite.binding.get_host_cpu_name()})",
        "cores": cores,
        "load average before the run": load,
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "NumPy": numpy.__version__,
        "Numba": numba.__version__,
        "LLVM": ".".join(str(part) for part in llvmlite.binding.llvm_version_info),
        "C++ compiler": compiler_version(),
        "knightfall": knightfall.__version__,
    }

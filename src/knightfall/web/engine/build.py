"""``python -m knightfall.web.engine.build``: compile the kernels to WebAssembly for browsers.

Numba has optimised each function, with everything that it calls, for this machine.  Here the code
is compiled for browsers: wrappers for Python are dropped, all functions but the exports become
internal, and unused ones are removed.

This takes about a minute, because everything is compiled from source: Numba's cache holds machine
code for this computer only.  The result is part of the package; a test fails if the kernels have
changed since.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba import types

from knightfall.errors import KnightfallError
from knightfall.web.engine import ABOUT, ENGINE

PAGE = 1 << 16

MADE_FROM = ("knightfall.web.engine.entry_points", "knightfall.web.engine.build")
"""The modules that the engine is built from, with all their imports; heuristics are added."""

TRIPLE = "wasm32-unknown-unknown"

NOW = "now"
"""Name of the function that the page must provide: it returns the time in milliseconds."""

ADDED = ("heuristic_address", "clock_address")
"""Exports besides the entry points."""

_NATIVE = {
    types.int64: "i64", types.uint64: "i64", types.float64: "double", types.void: "void",
}  # fmt: skip
_WRAPPER = re.compile(r"^define [^\n]*@(?:_ZN7cpython|cfunc\.)[^\n]*\{\n.*?^\}\n", re.M | re.S)
_UNUSED = re.compile(r"^define [^\n]*@NRT_(?:in|de)cref[^\n]*\{\n.*?^\}\n", re.M | re.S)


def intermediate(dispatcher: Any, signature: Any) -> tuple[str, str]:
    """Return a compiled function's name and its LLVM module as text, without Python wrappers."""
    result = dispatcher.overloads[tuple(signature.args)]
    text = result.library.get_llvm_str()
    text = _WRAPPER.sub("", text)
    if not re.search(r"call [^\n]*@NRT_", _UNUSED.sub("", text)):
        text = _UNUSED.sub("", text)
    text = re.sub(r"= common ", "= internal ", text)
    text = re.sub(r"^target (?:triple|datalayout) = .*\n", "", text, flags=re.M)
    return result.fndesc.llvm_func_name, text


def entry(name: str, function: str, signature: Any) -> str:
    """Return the LLVM code of a function that calls a compiled one and returns its result.

    That is an export, or a heuristic, which searches call by address with a pointer to the board.
    Numba's error status is ignored: these functions raise nothing.
    """
    kinds = [_NATIVE.get(kind, "ptr") for kind in signature.args]
    answer = _NATIVE[signature.return_type]
    stored = "ptr" if answer == "void" else answer
    given = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(kinds))
    declared = ", ".join(["ptr", "ptr", *kinds])
    back = "ret void" if answer == "void" else f"%r = load {answer}, ptr %ret\n  ret {answer} %r"
    return f"""
declare i32 @"{function}"({declared})
define {answer} @{name}({given}) {{
  %ret = alloca {stored}
  %exc = alloca ptr
  %status = call i32 @"{function}"(ptr %ret, ptr %exc, {given})
  {back}
}}
"""


def addresses(names: Sequence[str]) -> str:
    """Return the LLVM code of ``heuristic_address(number)`` and ``clock_address()``.

    The page needs these exports because only the linked file knows the addresses.
    """
    cases = "".join(f"    i64 {number}, label %l{number}\n" for number in range(len(names)))
    blocks = "".join(
        f"l{number}:\n  ret i64 ptrtoint (ptr @{name} to i64)\n"
        for number, name in enumerate(names)
    )
    return f"""
declare double @{NOW}() #0
attributes #0 = {{ "wasm-import-module"="env" "wasm-import-name"="{NOW}" }}

define i64 @heuristic_address(i64 %number) {{
  switch i64 %number, label %none [
{cases}  ]
none:
  ret i64 0
{blocks}}}

define internal i32 @read_clock(i32 %which, ptr %place) {{
  %ms = call double @{NOW}()
  %ns = fmul double %ms, 1.0e6
  %whole = fptosi double %ns to i64
  %seconds = sdiv i64 %whole, 1000000000
  %rest = srem i64 %whole, 1000000000
  store i64 %seconds, ptr %place
  %second = getelementptr i64, ptr %place, i64 1
  store i64 %rest, ptr %second
  ret i32 0
}}

define i64 @clock_address() {{
  ret i64 ptrtoint (ptr @read_clock to i64)
}}
"""


def module_of(
    functions: Mapping[str, tuple[Any, Any]], scores: Iterable[Any], kind: Any
) -> tuple[Any, Any]:
    """Return all entry points and heuristics as one LLVM module, optimised for browsers.

    `kind` is the signature of heuristics.  The second value is the machine that the code is for.
    """
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    heuristics = {f"heuristic{number}": (score, kind) for number, score in enumerate(scores)}
    glue, parts = "", []
    for name, (dispatcher, signature) in {**functions, **heuristics}.items():
        function, text = intermediate(dispatcher, signature)
        parts.append(text)
        glue += entry(name, function, signature)
    glue += addresses(list(heuristics))
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3)
    whole = llvm.parse_assembly(glue)
    for text in parts:
        whole.link_in(llvm.parse_assembly(text))
    whole.triple, whole.data_layout = TRIPLE, str(machine.target_data)
    public = {*functions, *ADDED}
    for function in whole.functions:
        if not function.is_declaration and function.name not in public:
            function.linkage = "internal"
    whole.verify()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(whole, builder)
    return whole, machine


def linked(module: Any, machine: Any, exports: Sequence[str], memory: int) -> bytes:
    """Link the module; return the content of the WebAssembly file."""
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / "engine.o", Path(place) / "engine.wasm"
        source.write_bytes(machine.emit_object(module))
        words = [
            *(_linker()), "--no-entry", "--strip-all", "--gc-sections", "-O2",
            "--initial-memory=131072", "-z", "stack-size=65536", f"--max-memory={memory}",
            "--export=__heap_base", *(f"--export={name}" for name in exports),
            str(source), "-o", str(target),
        ]  # fmt: skip
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise KnightfallError(f"wasm-ld failed: {done.stderr.strip()}")
        return target.read_bytes()


def _linker() -> list[str]:
    found = shutil.which("wasm-ld") or next(
        (path for number in range(22, 13, -1) if (path := shutil.which(f"wasm-ld-{number}"))), None
    )
    if found:
        return [found]
    if importlib.util.find_spec("ziglang") is None:
        raise KnightfallError("wasm-ld is missing: install Debian's lld, or pip install ziglang")
    return [sys.executable, "-m", "ziglang", "wasm-ld"]


def source_hash() -> str:
    """Return the hash of the sources that the shipped engine must have been built from."""
    from knightfall.heuristics.registry import REGISTRY, USER
    from knightfall.kernel.source_hashes import hash_of

    scores = {row.module for row in REGISTRY.values() if row.study != USER}
    return hash_of(*MADE_FROM, *sorted(scores), lazy=False)


def main() -> None:
    """Build the engine and print its size."""
    os.environ["KNIGHTFALL_CACHE_DIR"] = os.devnull + "/none"  # cached code is machine code only
    os.environ["KNIGHTFALL_QUIET"] = "1"
    from knightfall.display.printable import print_line
    from knightfall.heuristics.c_signature import HEURISTIC
    from knightfall.heuristics.registry import REGISTRY
    from knightfall.web.engine import memory_layout
    from knightfall.web.engine.entry_points import EXPORTED, METHODS, SUM_ID, heuristics

    scores = heuristics()
    module, machine = module_of(EXPORTED, scores.values(), HEURISTIC)
    exports = [*EXPORTED, *ADDED]
    memory = -(-(memory_layout.SIZE + (1 << 20)) // PAGE) * PAGE
    content = linked(module, machine, exports, memory)
    about = {
        "sources": source_hash(),
        "memory": memory_layout.SIZE,
        "entries": memory_layout.ENTRIES,
        "methods": METHODS,
        "heuristics": [
            {"id": id} if id == SUM_ID
            else {
                "id": id, "symmetric": REGISTRY[id].symmetric,
                "costly": REGISTRY[id].costly, "parameter": bool(REGISTRY[id].parameter),
            }
            for id in scores
        ],
    }  # fmt: skip
    ENGINE.write_bytes(content)
    ABOUT.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    size = f"{len(content):,} bytes"
    print_line(f"{ENGINE.name}: {size}, {len(EXPORTED)} functions, {len(scores)} heuristics")


if __name__ == "__main__":
    main()

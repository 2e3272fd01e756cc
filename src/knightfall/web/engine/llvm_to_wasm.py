"""Compile Numba's LLVM code to one WebAssembly file.

Numba has optimised each function, with everything that it calls, for this machine.  Here the code
is compiled for browsers: wrappers for Python are dropped, all functions but the exports become
internal, and unused ones are removed.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba import types

from knightfall.errors import KnightfallError

TRIPLE = "wasm32-unknown-unknown"

NOW = "now"
"""Name of the function that the page must provide: it returns the time in milliseconds."""

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
    """Return the LLVM code of an export that calls a compiled function and returns its result.

    Numba's error status is ignored: the exported functions raise nothing.
    """
    kinds = [_NATIVE[kind] for kind in signature.args]
    answer = _NATIVE[signature.return_type]
    stored = "ptr" if answer == "void" else answer
    given = ", ".join(f"{kind} %a{number}" for number, kind in enumerate(kinds))
    passed = "".join(f", {kind} %a{number}" for number, kind in enumerate(kinds))
    declared = ", ".join(["ptr", "ptr", *kinds])
    back = "ret void" if answer == "void" else f"%r = load {answer}, ptr %ret\n  ret {answer} %r"
    return f"""
declare i32 @{_quoted(function)}({declared})
define {answer} @{name}({given}) {{
  %ret = alloca {stored}
  %exc = alloca ptr
  %status = call i32 @{_quoted(function)}(ptr %ret, ptr %exc{passed})
  {back}
}}
"""


def heuristic(name: str, function: str) -> str:
    """Return the LLVM code of a heuristic in the form in which searches call it by address."""
    asked = "ptr %board, i64 %open, i64 %me, i64 %opp, i64 %mover"
    return f"""
declare i32 @{_quoted(function)}(ptr, ptr, ptr, i64, i64, i64, i64)
define internal double @{name}({asked}) {{
  %ret = alloca double
  %exc = alloca ptr
  %status = call i32 @{_quoted(function)}(ptr %ret, ptr %exc, {asked})
  %r = load double, ptr %ret
  ret double %r
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


def _quoted(name: str) -> str:
    return f'"{name}"'


def module_of(
    functions: Mapping[str, tuple[Any, Any]], scores: Mapping[str, Any], kind: Any
) -> Any:
    """Return all entry points and heuristics as one LLVM module, optimised for browsers."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    glue, parts = "", []
    for name, (dispatcher, signature) in functions.items():
        function, text = intermediate(dispatcher, signature)
        parts.append(text)
        glue += entry(name, function, signature)
    for number, dispatcher in enumerate(scores.values()):
        function, text = intermediate(dispatcher, kind)
        parts.append(text)
        glue += heuristic(f"heuristic{number}", function)
    glue += addresses([f"heuristic{number}" for number in range(len(scores))])
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(opt=3)
    whole = llvm.parse_assembly(glue)
    for text in parts:
        whole.link_in(llvm.parse_assembly(text))
    whole.triple, whole.data_layout = TRIPLE, str(machine.target_data)
    public = {*functions, "heuristic_address", "clock_address"}
    for function in whole.functions:
        if not function.is_declaration and function.name not in public:
            function.linkage = "internal"
    whole.verify()
    _optimise(whole, machine)
    return whole, machine


def _optimise(module: Any, machine: Any) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


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

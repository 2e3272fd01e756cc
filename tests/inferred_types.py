"""The types that Numba infers in a function, without compiling it."""

from __future__ import annotations

from typing import Any

import numba
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NopythonTypeInference


def inferred_types(function: Any, arguments: tuple[Any, ...]) -> str:
    """Return a function's lines with the type of every variable, as `inspect_types` prints them."""
    try:
        numba.njit(function, pipeline_class=_Inference).compile(arguments)
    except _Inferred as told:
        return str(told)
    raise AssertionError("nothing was inferred")


class _Inferred(Exception):
    """Raised with the inferred types to end the compilation."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _Tell(AnalysisPass):  # type: ignore[misc]
    _name = "tell_what_was_inferred"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        raise _Inferred(state.type_annotation)


class _Inference(CompilerBase):  # type: ignore[misc]
    """The compiler pipeline of `njit` up to type inference."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        for one in (NopythonTypeInference, AnnotateTypes, _Tell):
            passes.add_pass(one, one._name)
        passes.finalize()
        return [passes]

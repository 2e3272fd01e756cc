"""The engine for browsers: the same kernels, compiled to WebAssembly."""

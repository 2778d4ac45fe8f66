"""
Executors, loaded programs, JIT. Imports none of the compiler.
"""

if __name__ != "transom.runtime":
    raise ImportError("import transom.runtime, not runtime")

"""
The IR: dialects with their verifiers, canonicalizations and syntax, and the parser that
stamps locations. Imports xDSL only.
"""

if __name__ != "transom.dialects":
    raise ImportError("import transom.dialects, not dialects")

DIALECTS: dict[str, str] = {
    "arith": "transom.dialects.arith_forms:Arith",
    "executor": "transom.dialects.executor:Executor",
    "graph": "transom.dialects.graph:Graph",
    "linalg": "transom.dialects.linalg:Linalg",
    "llvm": "transom.dialects.llvm:LLVM",
    "scf": "transom.dialects.scf_forms:Scf",
    "target": "transom.dialects.target:Target",
    "tir": "transom.dialects.tir:TIR",
}
"""Dialects owned by this layer: name to `module:Dialect`, resolved when first used."""

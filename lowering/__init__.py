"""
One level to the next: the conversion framework and the conversions on it.
"""

if __name__ != "transom.lowering":
    raise ImportError("import transom.lowering, not lowering")

LOWERINGS: dict[str, str] = {
    "convert-linalg-to-tir": (
        "transom.lowering.convert_linalg_to_tir:ConvertLinalgToTirPass"
    ),
    "convert-tir-to-executor": (
        "transom.lowering.convert_tir_to_executor:ConvertTirToExecutorPass"
    ),
    "convert-tir-to-linalg": (
        "transom.lowering.convert_tir_to_linalg:ConvertTirToLinalgPass"
    ),
    "convert-tir-to-scf": "transom.lowering.convert_tir_to_scf:ConvertTirToScfPass",
    "convert-to-llvm": "transom.lowering.convert_to_llvm:ConvertToLlvmPass",
    "lower-executor-to-func": (
        "transom.lowering.lower_executor_to_func:LowerExecutorToFuncPass"
    ),
    "lower-math-to-polynomials": (
        "transom.lowering.lower_math_to_polynomials:LowerMathToPolynomialsPass"
    ),
    "lower-scf-to-cf": "transom.lowering.lower_scf_to_cf:LowerScfToCfPass",
    "tir-bufferize-main": "transom.lowering.tir_bufferize_main:TirBufferizeMainPass",
}
"""Level-changing passes: name to `module:Class`, resolved when first used."""

EMITTERS: dict[str, str] = {
    "llvm-ir": "transom.lowering.emit_llvm.emitter:LlvmIrEmitter",
}
"""Output formats of the tools: name to `module:Class`, resolved when first used."""

"""
Same level in, same level out.
"""

if __name__ != "transom.passes":
    raise ImportError("import transom.passes, not passes")

PASSES: dict[str, str] = {
    "graph-choose-layouts": (
        "transom.passes.graph_choose_layouts:GraphChooseLayoutsPass"
    ),
    "graph-fold-batch-norm": (
        "transom.passes.graph_fold_batch_norm:GraphFoldBatchNormPass"
    ),
    "graph-fold-constants": (
        "transom.passes.graph_fold_constants:GraphFoldConstantsPass"
    ),
    "graph-fold-dequantize": (
        "transom.passes.graph_fold_dequantize:GraphFoldDequantizePass"
    ),
    "graph-fold-weights": "transom.passes.graph_fold_weights:GraphFoldWeightsPass",
    "graph-fuse": "transom.passes.graph_fuse:GraphFusePass",
    "graph-infer-types": "transom.passes.graph_infer_types:GraphInferTypesPass",
    "graph-inline-regions": (
        "transom.passes.graph_inline_regions:GraphInlineRegionsPass"
    ),
    "graph-outline-regions": (
        "transom.passes.graph_outline_regions:GraphOutlineRegionsPass"
    ),
    "linalg-group-kernels": (
        "transom.passes.linalg_group_kernels:LinalgGroupKernelsPass"
    ),
    "target-plan-devices": ("transom.passes.target_plan_devices:TargetPlanDevicesPass"),
    "target-refine-places": (
        "transom.passes.target_refine_places:TargetRefinePlacesPass"
    ),
    "target-remove-dead-symbols": (
        "transom.passes.target_remove_dead_symbols:TargetRemoveDeadSymbolsPass"
    ),
    "target-set-phase": "transom.passes.target_set_phase:TargetSetPhasePass",
    "tir-build-in-place": "transom.passes.tir_build_in_place:TirBuildInPlacePass",
    "tir-choose-schedule": ("transom.passes.tir_choose_schedule:TirChooseSchedulePass"),
    "tir-compute-at": "transom.passes.tir_compute_at:TirComputeAtPass",
    "tir-distribute-loops": (
        "transom.passes.tir_distribute_loops:TirDistributeLoopsPass"
    ),
    "tir-fuse-nests": "transom.passes.tir_fuse_nests:TirFuseNestsPass",
    "tir-lift-scratch": "transom.passes.tir_lift_scratch:TirLiftScratchPass",
    "tir-outline-parallel-loops": (
        "transom.passes.tir_outline_parallel_loops:TirOutlineParallelLoopsPass"
    ),
    "tir-pack-operands": "transom.passes.tir_pack_operands:TirPackOperandsPass",
    "tir-parallelize-nests": (
        "transom.passes.tir_parallelize_nests:TirParallelizeNestsPass"
    ),
    "tir-plan-memory": "transom.passes.tir_plan_memory:TirPlanMemoryPass",
    "tir-poison-memory": "transom.passes.tir_poison_memory:TirPoisonMemoryPass",
    "tir-reorder-for-memory": (
        "transom.passes.tir_reorder_for_memory:TirReorderForMemoryPass"
    ),
    "tir-reshape-dims": "transom.passes.tir_reshape_dims:TirReshapeDimsPass",
    "tir-use-winograd": "transom.passes.tir_use_winograd:TirUseWinogradPass",
    "tir-verify-plan": "transom.passes.tir_verify_plan:TirVerifyPlanPass",
}
"""Same-level passes: name to `module:Class`, resolved when first used."""

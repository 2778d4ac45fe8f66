"""
Targets: an attribute in the IR, and the hooks registered for its class.
"""

if __name__ != "transom.targets":
    raise ImportError("import transom.targets, not targets")

TARGETS: dict[str, str] = {
    "c_source.target": "transom.targets.c_source.hooks:CSourceTarget",
    "cmsis_nn.target": "transom.targets.cmsis_nn.hooks:CmsisNnTarget",
    "llvm_cpu.target": "transom.targets.llvm_cpu.hooks:LlvmCpuTarget",
}
"""Hooks by attribute name: `module:Class`, resolved when first used."""

TARGET_DIALECTS: dict[str, str] = {
    "c_source": "transom.targets.c_source.dialect:CSource",
    "cmsis_nn": "transom.targets.cmsis_nn.dialect:CmsisNn",
    "llvm_cpu": "transom.targets.llvm_cpu.dialect:LlvmCpu",
}
"""Dialects owned by the in-tree targets."""

TARGET_PASSES: dict[str, str] = {
    "cmsis-nn-select-ops": ("transom.targets.cmsis_nn.select_ops:CmsisNnSelectOpsPass"),
    "convert-graph-to-tir": (
        "transom.targets.convert_graph_to_tir:ConvertGraphToTirPass"
    ),
    "graph-search-partition": (
        "transom.targets.graph_search_partition:GraphSearchPartitionPass"
    ),
    "target-bind-devices": "transom.targets.bind_devices:TargetBindDevicesPass",
    "target-claim-ops": "transom.targets.claim_ops:TargetClaimOpsPass",
    "target-emit-artifacts": "transom.targets.emit_artifacts:TargetEmitArtifactsPass",
    "target-resolve-devices": (
        "transom.targets.resolve_devices:TargetResolveDevicesPass"
    ),
}
"""Passes of this layer: name to `module:Class`, resolved when first used."""

TARGET_EMITTERS: dict[str, str] = {
    "c-source": "transom.targets.c_source.emitter:CSourceEmitter",
}
"""Output formats of the tools: name to `module:Class`, resolved when first used."""

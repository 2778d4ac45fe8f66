"""
Same level in, same level out.
"""

if __name__ != "transom.passes":
    raise ImportError("import transom.passes, not passes")

PASSES: dict[str, str] = {
    "graph-fuse": "transom.passes.graph_fuse:GraphFusePass",
    "graph-outline-regions": (
        "transom.passes.graph_outline_regions:GraphOutlineRegionsPass"
    ),
    "tir-fuse-nests": "transom.passes.tir_fuse_nests:TirFuseNestsPass",
}
"""Same-level passes: name to `module:Class`, resolved when first used."""

"""
How each graph op is computed by nests: the pattern sets of `convert-graph-to-tir`.

The patterns work on one kernel at a time: operands are memrefs, each op allocates its
result and fills it with one or a few nests. That several ops become one nest or block
is the work of `tir-fuse-nests`.
"""

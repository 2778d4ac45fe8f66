"""
The host CPU and cross compilation through LLVM.
"""

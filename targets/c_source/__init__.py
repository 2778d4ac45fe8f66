"""
The target `c_source`: kernels as portable C99.
"""

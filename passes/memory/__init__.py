"""
What planning the memory of main functions is made of: program points and liveness,
index arithmetic, sizes and their bounds, packing.
"""

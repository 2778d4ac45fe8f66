"""
Giving buffers places in pools, apart from any IR: the problem, bounds, algorithms.
"""

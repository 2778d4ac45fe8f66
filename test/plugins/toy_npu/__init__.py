"""
A target out of the tree, for tests: found by its entry points like any other.
"""

"""
A target out of the tree, for tests: functions of graph ops go straight to programs of a
machine that only this package knows.
"""

"""
Speed: `python -m benchmarks.compare` measures transom against other runtimes, and the
scripts beside it measure parts of transom.
"""

"""A target for transom: a CPU with a library of matrix products."""

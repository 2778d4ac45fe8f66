"""
Write the check lines of a test from what its RUN lines print.

`recorder` runs a test and keeps what goes into `filecheck`; `lines` and `names` make
check lines of that; `layout` puts them into the file, and `expected` writes comments
for `--verify-diagnostics`.
"""

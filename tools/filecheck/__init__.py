"""
FileCheck: compare a text with the check lines of a file.

The language and its verdicts are those of LLVM's program of this name, for which there
is none in Python: https://llvm.org/docs/CommandGuide/FileCheck.html. Where a pattern
means one thing to Python and another to LLVM, it is refused.
"""

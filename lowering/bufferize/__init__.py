"""
What `tir-bufferize-main` is made of: which values may share a buffer, from a function
to that question, from the answer to memrefs, and the border to the caller.
"""

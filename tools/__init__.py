"""
The programs.
"""

if __name__ != "transom.tools":
    raise ImportError("import transom.tools, not tools")

"""
Same level in, same level out.
"""

if __name__ != "transom.passes":
    raise ImportError("import transom.passes, not passes")

PASSES: dict[str, str] = {}
"""Same-level passes: name to `module:Class`, resolved when first used."""

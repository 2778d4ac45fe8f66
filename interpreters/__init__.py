"""
Reference evaluation: the oracle. Shares no code with folding or lowering.
"""

if __name__ != "transom.interpreters":
    raise ImportError("import transom.interpreters, not interpreters")

"""
Importers of foreign models.
"""

if __name__ != "transom.frontends":
    raise ImportError("import transom.frontends, not frontends")

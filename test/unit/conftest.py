"""Tests keep nothing on disk but where they say so."""

import os

os.environ["TRANSOM_CACHE"] = "memory"

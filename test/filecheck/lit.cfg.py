"""
Configuration of lit for the tests of IR: `lit -v test/filecheck`.
"""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "transom"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(Path(__file__).parent)

# The programs of the environment that runs lit, whatever PATH says.
scripts = str(Path(sys.executable).parent)
config.environment["PATH"] = scripts + os.pathsep + os.environ["PATH"]

# Custom form, read back, generic form, read back, with and without locations.
config.substitutions.append(("%roundtrip", "transom-opt %s --verify-roundtrip"))
# One failing case per `// -----` section, each with its `expected-error` comment.
config.substitutions.append(
    ("%diagnose", "transom-opt %s --split-input-file --verify-diagnostics")
)

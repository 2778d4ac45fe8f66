"""
Configuration of lit for the tests of IR: `lit -v test/filecheck`.
"""

import os
import sys
from pathlib import Path

from transom.tools.lit_format import configure

config.name = "transom"
configure(config, __file__, timeout=300)

# Targets for tests: for the workers of lit, and for the processes that they start.
plugins = str(Path(__file__).parent.parent / "plugins")
sys.path.insert(0, plugins)
paths = [plugins, os.environ.get("PYTHONPATH", "")]
config.environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

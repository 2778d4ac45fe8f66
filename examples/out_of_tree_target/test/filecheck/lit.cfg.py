from pathlib import Path

from transom.tools.lit_format import configure

config.name = "woofles"
configure(config, __file__)
library = Path(__file__).resolve().parents[2] / "libwoofles.so"
config.substitutions.append(("%library", str(library)))

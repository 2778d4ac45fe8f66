"""
Configuration of lit for the tests of IR: `lit -v test/filecheck`.
"""

from transom.tools.lit_format import configure

config.name = "transom"
configure(config, __file__)

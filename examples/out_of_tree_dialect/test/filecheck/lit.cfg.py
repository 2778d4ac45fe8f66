from transom.tools.lit_format import configure

config.name = "metric"
configure(config, __file__)

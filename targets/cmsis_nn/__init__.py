"""
The target `cmsis_nn`: quantised operators as calls of CMSIS-NN, on Cortex-M.
"""

"""
ONNX models.

`load_onnx` gives a module at the start of phase `graph`: weights stay in the model's
file and are read from there when they are needed; every op has the name of its node as
location.
"""

from transom.frontends.onnx.importer import load_onnx

__all__ = ["load_onnx"]

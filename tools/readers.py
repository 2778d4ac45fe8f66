"""
Readers of input files, in the form that `xDSLOptMain` wants.
"""

from dataclasses import dataclass, field
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.frontend import Frontend

from transom.dialects.file_resources import ExternalResources
from transom.dialects.parser import parse_ir
from transom.tools.size_arguments import InputSizes


@dataclass(frozen=True)
class MlirReader(Frontend):
    """IR text, with a place on every op. Raises `OpError`."""

    name = "mlir"

    no_implicit_module: bool = False
    line_offset: int = 0
    resources: ExternalResources | None = None
    """Takes what a tool wrote beside the IR."""

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        return parse_ir(
            ctx,
            input.read(),
            input_name,
            line_offset=self.line_offset,
            implicit_module=not self.no_implicit_module,
            resources=self.resources,
        )


@dataclass(frozen=True)
class OnnxReader(Frontend):
    """An ONNX model, which is read from its file: its weights stay there."""

    name = "onnx"

    data_folders: tuple[str, ...] = ()
    """Folders that links may lead to."""
    sizes: InputSizes = field(default_factory=InputSizes)

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        from transom.frontends.onnx import load_onnx

        sizes = self.sizes
        return load_onnx(
            input_name, self.data_folders, shapes=sizes.shapes, dims=sizes.dims
        )

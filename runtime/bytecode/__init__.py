"""
Main as bytecode, for the executor `vm`: what it holds, and its bytes.

A function is a list of instructions on registers, each of which has a type and is a
number or memory. Names of instructions are those of the ops in the IR; control flow is
jumps. `docs/bytecode.md` describes the bytes.
"""

from transom.runtime.bytecode.model import (
    Bytecode,
    Function,
    Instruction,
    KernelEntry,
    Number,
    Register,
)
from transom.runtime.bytecode.reading import read
from transom.runtime.bytecode.text import text_of
from transom.runtime.bytecode.verifier import verify
from transom.runtime.bytecode.writing import write

__all__ = [
    "Bytecode",
    "Function",
    "Instruction",
    "KernelEntry",
    "Number",
    "Register",
    "read",
    "text_of",
    "verify",
    "write",
]

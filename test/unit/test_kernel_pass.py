"""Passes that treat kernels alone: what they made is found again, and is the same."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    IntegerAttr,
    ModuleOp,
    UnitAttr,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import transom
from transom.cache import Count, Settings, Store, counted
from transom.dialects import tir
from transom.dialects.diagnostics import OpError
from transom.dialects.parser import parse_ir
from transom.dialects.symbols import symbol_name
from transom.dialects.verifier import verify_module
from transom.passes import kernel_pass
from transom.passes.kernel_pass import KernelPass, nameless_form
from transom.registry import new_context

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.mlir"))
NAME = "test-mark-kernels"


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """A store of the test, which other tests have not filled."""
    made = Store(Settings("on", tmp_path / "cache", 1 << 26))
    # Somebody may be editing while the tests run.
    monkeypatch.setattr("transom.cache.entries.is_current", lambda: True)
    monkeypatch.setattr(kernel_pass, "store", lambda: made)
    return made


@dataclass(frozen=True)
class MarkKernels(KernelPass):
    """Marks the kernels that it gets, and functions."""

    name = NAME

    number: int = 0
    marked: list[str] = field(default_factory=list[str], compare=False)
    fails: bool = field(default=False, compare=False)

    def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
        for op in module.walk():
            if isinstance(op, tir.FuncOp | FuncOp) and op.body.blocks:
                op.attributes["test.mark"] = IntegerAttr(self.number, i32)
                self.marked.append(op.sym_name.data)
        if self.fails:
            raise OpError(module, "failed")


def kernel(name: str, op: str = "addf", constant: str = "1.0") -> str:
    return (
        f"tir.func @{name}(read %x: memref<4xf32>, write %y: memref<4xf32>) {{\n"
        f"  %i = arith.constant 0 : index\n  %c = arith.constant {constant} : f32\n"
        f"  %v = memref.load %x[%i] : memref<4xf32>\n"
        f"  %s = arith.{op} %v, %c : f32\n"
        f"  memref.store %s, %y[%i] : memref<4xf32>\n  tir.return\n}}\n"
    )


MAIN = "func.func @main() {\n  func.return\n}\n"


def module_of(text: str) -> ModuleOp:
    """The module of a text, without the places of the text."""
    from transom.lowering.kernels import forget_origin

    module = parse_ir(new_context(), text, "a.mlir")
    forget_origin(module)
    return module


def marks(module: ModuleOp) -> dict[str, object]:
    return {
        op.sym_name.data: op.attributes.get("test.mark")
        for op in module.walk()
        if isinstance(op, tir.FuncOp | FuncOp)
    }


def run(module: ModuleOp, pass_: KernelPass) -> ModuleOp:
    pass_.apply(new_context(), module)
    verify_module(module)
    return module


def test_what_was_made_of_a_kernel_is_found_under_every_name() -> None:
    first, second = MarkKernels(), MarkKernels()
    with counted() as counts:
        run(module_of(kernel("a") + kernel("b") + MAIN), first)
    assert counts[NAME] == Count(missed=2, stored=2)
    assert first.marked == ["a", "b", "main"]
    with counted() as counts:
        found = run(module_of(kernel("c") + kernel("d", "mulf") + MAIN), second)
    assert counts[NAME] == Count(memory=1, missed=1, stored=1)
    assert second.marked == ["d", "main"]
    zero = IntegerAttr(0, i32)
    assert marks(found) == {"c": zero, "d": zero, "main": zero}


def test_other_options_and_contents_are_other_entries() -> None:
    """0.0 and -0.0 are other contents, though they are equal numbers."""
    run(module_of(kernel("a", constant="0.0")), MarkKernels())
    for text, number in (
        (kernel("a", constant="-0.0"), 0),
        (kernel("a", constant="0.0"), 1),
        (kernel("a", constant="0.0").replace("tir.func", "tir.func public"), 0),
    ):
        pass_ = MarkKernels(number)
        run(module_of(text), pass_)
        assert pass_.marked == ["a"], text


def test_kernels_with_locations_are_made_again() -> None:
    for _ in range(2):
        pass_ = MarkKernels()
        with counted() as counts:
            module = parse_ir(new_context(), kernel("a"), "a.mlir")
            run(module, pass_)
        assert counts[NAME] == Count(refused=1)
        assert pass_.marked == ["a"]


def test_kernels_in_nested_modules_are_made_again() -> None:
    run(module_of(kernel("a")), MarkKernels())
    pass_ = MarkKernels()
    run(module_of(f"{MAIN}builtin.module {{\n{kernel('a')}}}"), pass_)
    assert pass_.marked == ["main", "a"]


def test_a_failure_leaves_no_declarations() -> None:
    run(module_of(kernel("a")), MarkKernels())
    module = module_of(kernel("a") + kernel("b", "mulf"))
    with pytest.raises(OpError):
        MarkKernels(fails=True).apply(new_context(), module)
    assert all(op.body.blocks for op in module.ops if isinstance(op, tir.FuncOp))
    assert "b" not in [n for n, mark in marks(module).items() if mark is None]
    # What the pass made when it failed is not kept.
    pass_ = MarkKernels()
    run(module_of(kernel("b", "mulf")), pass_)
    assert pass_.marked == ["b"]


def test_a_pass_may_remove_kernels() -> None:
    @dataclass(frozen=True)
    class RemoveKernels(MarkKernels):
        name = "test-remove-kernels"

        def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
            for op in tuple(module.ops):
                if isinstance(op, tir.FuncOp):
                    op.detach()
                    op.erase()

    module = module_of(kernel("a") + MAIN)
    with counted() as counts:
        run(module, RemoveKernels())
    assert counts["test-remove-kernels"] == Count(missed=1, refused=1)
    assert list(marks(module)) == ["main"]


def test_a_pass_that_is_fast_keeps_nothing() -> None:
    @dataclass(frozen=True)
    class FastPass(MarkKernels):
        name = "test-fast"
        is_kept = False

    with counted() as counts:
        run(module_of(kernel("a")), FastPass())
    assert str(counts) == "not asked"


def test_an_entry_with_unknown_ops_is_made_again() -> None:
    """The context that reads may lack a dialect that the one that wrote had."""
    module = module_of(kernel("a"))
    run(module, MarkKernels())
    bare = Context()
    bare.load_dialect(Builtin)
    bare.load_dialect(tir.TIR)
    pass_ = MarkKernels()
    again = module_of(kernel("a"))
    pass_.apply(bare, again)
    assert pass_.marked == ["a"]
    assert marks(again) == {"a": IntegerAttr(0, i32)}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_found_kernels_are_what_would_be_made(path: Path, own_store: Store) -> None:
    """Cold, from memory, and from disk: the same text."""
    module = transom.lower(transom.load(path), "partitioned")
    texts: list[str] = []
    for _ in range(2):
        texts.append(str(transom.lower(module, "scheduled")))
    own_store.forget()
    with counted() as counts:
        texts.append(str(transom.lower(module, "scheduled")))
    assert counts["convert-tir-to-scf"].disk > 0
    assert counts["convert-tir-to-scf"].missed == 0
    assert len(set(texts)) == 1


def test_a_form_is_nameless() -> None:
    a, b = module_of(kernel("a")), module_of(kernel("b"))
    kernels = [op for module in (a, b) for op in module.ops]
    kernels[0].attributes["test.a"] = kernels[1].attributes["test.a"] = UnitAttr()
    first, second = (nameless_form(op) for op in kernels)
    assert first == second is not None
    assert [symbol_name(op) for op in kernels] == ["a", "b"]


def test_what_does_not_verify_is_not_kept() -> None:
    """It is not found later, so that each time somebody tells what is wrong."""

    @dataclass(frozen=True)
    class BreakKernels(MarkKernels):
        name = "test-break-kernels"

        def apply_to_kernels(self, ctx: Context, module: ModuleOp) -> None:
            for op in module.ops:
                if isinstance(op, tir.FuncOp):
                    op.effects = ArrayAttr(())

    for _ in range(2):
        with counted() as counts, pytest.raises(OpError):
            run(module_of(kernel("a")), BreakKernels())
        assert counts["test-break-kernels"] == Count(missed=1, refused=1)


def test_what_is_found_is_not_verified_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from transom.dialects import verifier

    run(module_of(kernel("a")), MarkKernels())
    asked: list[Operation] = []
    verify_op = verifier.verify_op

    def verify(op: Operation) -> None:
        asked.append(op)
        verify_op(op)

    monkeypatch.setattr(verifier, "verify_op", verify)
    module = run(module_of(kernel("a")), MarkKernels())
    assert asked == [module]

"""The compact form of ops: what was written is read back, to the bit."""

import json
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    f32,
    f64,
    i32,
)
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Attribute, Block, Region

import transom
from transom.dialects import tir
from transom.dialects.compact_form import NoCompactForm, decode, encode
from transom.dialects.parser import parse_ir
from transom.registry import new_context

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.mlir"))
CTX = new_context()


def reread(attribute: Attribute) -> Attribute:
    op = AnyOp(attributes={"a": attribute})
    return decode(CTX, encode(op)).attributes["a"]


@pytest.mark.parametrize("phase", ["tensor", "scheduled"])
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_kernels_of_models(path: Path, phase: str) -> None:
    module = transom.lower(transom.load(path), phase)
    kernels = [op for op in module.ops if isinstance(op, tir.FuncOp)]
    assert kernels
    for kernel in kernels:
        form = encode(kernel)
        again = decode(new_context(), form)
        again.verify()
        assert str(again) == str(kernel)
        assert again.is_structurally_equivalent(kernel)
        assert encode(again) == form


@given(st.floats(width=32))
def test_floats_of_32_bits_to_the_bit(value: float) -> None:
    found = reread(FloatAttr(value, f32))
    assert isinstance(found, FloatAttr)
    if math.isnan(value):
        assert math.isnan(found.value.data)
    else:
        assert struct.pack("f", found.value.data) == struct.pack("f", value)


@given(st.floats(allow_nan=False))
def test_floats_of_64_bits_to_the_bit(value: float) -> None:
    found = reread(FloatAttr(value, f64))
    assert isinstance(found, FloatAttr)
    assert struct.pack("d", found.value.data) == struct.pack("d", value)


def test_equal_floats_of_other_bits_are_told_apart() -> None:
    zeros = [arith.ConstantOp(FloatAttr(value, f32)) for value in (0.0, -0.0, 0.0)]
    module = decode(CTX, encode(ModuleOp(zeros)))
    texts = [str(op.properties["value"]) for op in module.regions[0].block.ops]
    assert texts == [str(op.value) for op in zeros]
    assert texts[0] != texts[1]


@given(st.text(), st.integers(-(2**31), 2**31 - 1))
def test_other_attributes(text: str, number: int) -> None:
    attribute = DictionaryAttr(
        {"a": StringAttr(text), "b": ArrayAttr([IntegerAttr(number, i32)])}
    )
    assert reread(attribute) == attribute


def test_names_of_values_are_not_hashed() -> None:
    def text(name: str) -> str:
        return (
            f"func.func @f(%{name}: i32) -> i32 {{\n"
            f"  %{name}s = arith.addi %{name}, %{name} : i32\n"
            f"  func.return %{name}s : i32\n}}"
        )

    def op_of(name: str) -> ModuleOp:
        module = parse_ir(new_context(), text(name), "a.mlir")
        plain = decode(CTX, encode(_without_places(module)))
        assert isinstance(plain, ModuleOp)
        return plain

    a, b = op_of("a"), op_of("b")
    assert str(a) != str(b)
    assert encode(a) != encode(b)
    assert encode(a, to_hash=True) == encode(b, to_hash=True)


def _without_places(module: ModuleOp) -> ModuleOp:
    from xdsl.dialects.builtin import UNKNOWN_LOC

    for op in module.walk():
        op.location = UNKNOWN_LOC
        for region in op.regions:
            for argument in region.block.args:
                argument.location = UNKNOWN_LOC
    return module


def test_the_order_of_attributes_is_kept_but_not_hashed() -> None:
    one, two = IntegerAttr(1, i32), IntegerAttr(2, i32)
    a = AnyOp(attributes={"a": one, "b": two})
    b = AnyOp(attributes={"b": two, "a": one})
    assert str(decode(CTX, encode(b))) == str(b) != str(a)
    assert encode(a, to_hash=True) == encode(b, to_hash=True)


def test_what_has_no_compact_form_is_refused() -> None:
    located = parse_ir(new_context(), "func.func @f() { func.return }", "a.mlir")
    with pytest.raises(NoCompactForm, match=r"'builtin.module' has a location"):
        encode(located)
    outside = AnyOp(result_types=[i32])
    with pytest.raises(NoCompactForm, match=r"an operand of 'test.op' is not defined"):
        encode(AnyOp(operands=[outside.results[0]]))
    blocks = AnyOp(regions=[Region([Block(), Block()])])
    with pytest.raises(NoCompactForm, match="a region has several blocks"):
        encode(blocks)
    block = Block(arg_types=[i32])
    block.args[0].location = located.location
    with pytest.raises(NoCompactForm, match="a block argument has a location"):
        encode(AnyOp(regions=[Region(block)]))
    target = Block()
    jump = cf.BranchOp(target)
    with pytest.raises(NoCompactForm, match="has successors or is not registered"):
        encode(jump)


def test_the_form_is_json_of_tables_and_numbers() -> None:
    """No code is in it, and none runs when it is read."""
    names, texts, kinds, hints, stream = json.loads(encode(AnyOp(result_types=[i32])))
    assert (names, texts, hints) == (["test.op"], ["i32"], [])
    assert (kinds, stream) == ([[0, [], [], [0], 0, 0]], [0])

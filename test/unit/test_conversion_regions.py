"""Regions, blocks, functions, calls, branches and loops."""

from itertools import pairwise

import pytest
from conversion_cases import (
    body,
    fingerprint,
    index_to_i64,
    parse,
    pattern,
    rename,
    unregistered,
)
from xdsl.dialects import arith, cf, func, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    UnrealizedConversionCastOp,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    BudgetError,
    ConversionError,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    PatternError,
    Refusal,
    Signature,
    TypeConverter,
    analyze_conversion,
    apply_full_conversion,
    apply_partial_conversion,
    name_of_op,
)
from transom.lowering.conversion_patterns import (
    RemoveCast,
    ReplaceOp,
    add_structural_conversions,
)

INDEX = IndexType()


def illegal(*dialects: str) -> ConversionTarget:
    target = ConversionTarget()
    target.add_illegal_dialect(*dialects)
    return target


def memref_to_i64s() -> TypeConverter:
    def convert(type: Attribute) -> Attribute | tuple[Attribute, ...] | None:
        if isinstance(type, MemRefType):
            dynamic = sum(size == DYNAMIC_INDEX for size in type.get_shape())
            return (i64,) * (1 + dynamic)
        return i64 if type == INDEX else None

    return TypeConverter(convert)


def convert_structure(text: str, *more: object) -> ModuleOp:
    """Convert `index` to i64 and memrefs to i64s in functions, branches and loops."""
    module = parse(text)
    target = illegal("g")
    patterns = add_structural_conversions(target, converter := memref_to_i64s())
    apply_full_conversion(module, target, (*patterns, *more), converter)  # pyright: ignore[reportArgumentType]
    verify_module(module)
    return module


# Functions and calls


def test_signatures_returns_and_call_sites():
    module = convert_structure(
        """
        func.func private @g(memref<?x?xf32>, f32) -> (index, memref<4xf32>)
        func.func @f(%m: memref<?x?xf32> {t.name = "m"}, %x: f32 {t.name = "x"})
            -> (index {t.r = 1 : i32}) attributes {t.note} {
          %a, %b = func.call @g(%m, %x) {t.hot}
            : (memref<?x?xf32>, f32) -> (index, memref<4xf32>)
          func.return %a : index
        }
        """
    )
    assert body(module) == [
        "func.func private @g(i64, i64, i64, f32) -> (i64, i64)",
        'func.func @f(%m: i64 {t.name = "m"}, %m_1: i64, %m_2: i64, '
        '%x: f32 {t.name = "x"}) -> (i64 {t.r = 1 : i32}) attributes {t.note} {',
        "%a, %b = func.call @g(%m, %m_1, %m_2, %x) {t.hot} : "
        "(i64, i64, i64, f32) -> (i64, i64)",
        "func.return %a : i64",
        "}",
    ]


def test_a_legal_function_keeps_its_identity():
    module = parse(
        """
        func.func @f(%x: f32) -> f32 {
          %0 = "g.a"(%x) : (f32) -> f32
          %1 = "test.op"(%0) : (f32) -> f32
          func.return %1 : f32
        }
        """
    )
    function, _, used, end = [op for op in module.walk() if op is not module]
    target = illegal("g")
    patterns = add_structural_conversions(target, converter := index_to_i64())
    apply_full_conversion(module, target, (*patterns, rename("g.a", "h.a")), converter)
    now = [op for op in module.walk() if op is not module]
    assert (now[0], now[2], now[3]) == (function, used, end)


def test_block_arguments_keep_location_and_name():
    module = convert_structure(
        """
        func.func @f(%m: memref<?xf32> loc("arg":1:2)) {
          func.return
        }
        """
    )
    function = module.body.block.first_op
    assert isinstance(function, func.FuncOp)
    assert [str(arg.location) for arg in function.args] == ['loc("arg":1:2)'] * 2
    assert [arg.name_hint for arg in function.args] == ["m", "m"]


# Branches


def test_successors_and_the_arguments_of_blocks():
    module = convert_structure(
        """
        func.func @f(%c: i1, %i: index, %m: memref<?xf32>) -> index {
          cf.cond_br %c, ^a(%i, %m : index, memref<?xf32>), ^b(%i : index)
        ^a(%x: index, %n: memref<?xf32>):
          cf.br ^b(%x : index)
        ^b(%y: index):
          func.return %y : index
        }
        """
    )
    assert body(module) == [
        "func.func @f(%c: i1, %i: i64, %m: i64, %m_1: i64) -> i64 {",
        "cf.cond_br %c, ^a(%i, %m, %m_1 : i64, i64, i64), ^b(%i : i64)",
        "^a(%x: i64, %n: i64, %n_1: i64):",
        "cf.br ^b(%x : i64)",
        "^b(%y: i64):",
        "func.return %y : i64",
        "}",
    ]


def test_blocks_in_an_order_that_is_not_that_of_dominance():
    module = convert_structure(
        """
        func.func @f(%c: i1) -> index {
          cf.br ^b
        ^a:
          func.return %v : index
        ^b:
          %v = "g.a"() : () -> index
          cf.br ^a
        }
        """,
        rename("g.a", "h.a"),
    )
    assert body(module)[2:6] == [
        "^a:",
        "func.return %v : i64",
        "^b:",
        '%v = "h.a"() : () -> i64',
    ]


def test_patterns_see_final_values_in_whatever_order_blocks_are_written():
    module = parse(
        """
        func.func @f(%c: i1) {
          cf.cond_br %c, ^d, ^b
        ^e:
          "g.use"(%v) : (f32) -> ()
          func.return
        ^b:
          func.return
        ^d:
          %v = "g.a"() : () -> f32
          "g.use"(%v) : (f32) -> ()
          cf.br ^e
        }
        """
    )
    owners: list[str] = []

    def look(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        owner = operands[0].owner
        assert isinstance(owner, Operation)
        owners.append(name_of_op(owner))
        rewriter.erase(op)

    apply_full_conversion(
        module, illegal("g"), [rename("g.a", "h.a"), pattern("g.use", look)]
    )
    assert owners == ["h.a", "h.a"]


def test_loops_of_blocks():
    module = convert_structure(
        """
        func.func @f(%i: index, %c: i1) {
          cf.br ^head(%i : index)
        ^head(%x: index):
          %y = "g.next"(%x) : (index) -> index
          cf.cond_br %c, ^head(%y : index), ^end
        ^end:
          func.return
        }
        """,
        rename("g.next", "h.next"),
    )
    assert '%y = "h.next"(%x) : (i64) -> i64' in body(module)


def test_unreachable_blocks_are_converted_too():
    module = convert_structure(
        """
        func.func @f() {
          func.return
        ^dead(%x: index):
          %y = "g.next"(%z) : (index) -> index
          %z = "g.next"(%y) : (index) -> index
          cf.br ^dead(%y : index)
        }
        """,
        rename("g.next", "h.next"),
    )
    assert str(module).count("h.next") == 2
    assert "g." not in str(module)


def test_switches():
    module = convert_structure(
        """
        func.func @f(%k: i32, %m: memref<?xf32>, %x: f32) {
          cf.switch %k : i32, [
            default: ^a(%m : memref<?xf32>),
            42: ^b(%x, %m : f32, memref<?xf32>),
            43: ^a(%m : memref<?xf32>)
          ]
        ^a(%n: memref<?xf32>):
          func.return
        ^b(%y: f32, %o: memref<?xf32>):
          func.return
        }
        """
    )
    switch = next(op for op in module.walk() if isinstance(op, cf.SwitchOp))
    assert [len(group) for group in switch.case_operand] == [3, 2]
    assert len(switch.default_operands) == 2


# Loops


def test_structured_control_flow():
    module = convert_structure(
        """
        func.func @f(%i: index, %m: memref<?xf32>, %c: i1) -> index {
          %0 = scf.for %k = %i to %i step %i iter_args(%a = %m) -> (memref<?xf32>) {
            %1 = scf.if %c -> (memref<?xf32>) {
              scf.yield %a : memref<?xf32>
            } else {
              scf.yield %m : memref<?xf32>
            }
            "g.use"(%k, %1) : (index, memref<?xf32>) -> ()
            scf.yield %1 : memref<?xf32>
          }
          %2 = scf.while (%w = %i) : (index) -> index {
            scf.condition(%c) %w : index
          } do {
          ^bb0(%v: index):
            scf.yield %v : index
          }
          func.return %2 : index
        }
        """,
        pattern(
            "g.use",
            lambda op, operands, rewriter: rewriter.replace(
                op, unregistered("h.use", operands.flat)
            ),
        ),
    )
    assert body(module) == [
        "func.func @f(%i: i64, %m: i64, %m_1: i64, %c: i1) -> i64 {",
        "%0, %1 = scf.for %k = %i to %i step %i iter_args(%a = %m, %a_1 = %m_1) "
        "-> (i64, i64) : i64 {",
        "%2, %3 = scf.if %c -> (i64, i64) {",
        "scf.yield %a, %a_1 : i64, i64",
        "} else {",
        "scf.yield %m, %m_1 : i64, i64",
        "}",
        '"h.use"(%k, %2, %3) : (i64, i64, i64) -> ()',
        "scf.yield %2, %3 : i64, i64",
        "}",
        "%4 = scf.while (%w = %i) : (i64) -> i64 {",
        "scf.condition(%c) %w : i64",
        "} do {",
        "^bb0(%v: i64):",
        "scf.yield %v : i64",
        "}",
        "func.return %4 : i64",
        "}",
    ]


def test_one_value_cannot_become_several_where_an_op_takes_one():
    module = parse(
        """
        %m = "test.op"() : () -> i1
        %0 = scf.if %m -> (f32) {
          %x = "test.op"() : () -> f32
          scf.yield %x : f32
        } else {
          %x = "test.op"() : () -> f32
          scf.yield %x : f32
        }
        """
    )
    converter = TypeConverter(lambda t: (f32, f32) if str(t) == "i1" else None)
    converter.use_casts()
    target = ConversionTarget()
    patterns = add_structural_conversions(target, converter)
    report = analyze_conversion(module, target, patterns, converter)
    assert [f.reason for f in report.failures] == [
        "operand 0 has type 'i1'; ConvertLoopTypes: expected 'cond' to stay one value, "
        "but got 2"
    ]


# What patterns can do with regions


def test_a_failure_inside_a_converted_region_is_one_of_its_own():
    module = parse(
        """
        func.func @f(%i: index) {
          "g.a"(%i) : (index) -> ()
          %0 = "g.b"(%i) : (index) -> f32
          func.return
        }
        """
    )
    before = fingerprint(module)
    target = illegal("g")
    patterns = add_structural_conversions(target, converter := index_to_i64())
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module, target, (*patterns, rename("g.a", "h.a")), converter
        )
    assert str(error.value) == (
        "m.mlir:4:11: error: no legal form for 'g.b' x1 (no pattern); "
        "its type is (index) -> f32"
    )
    assert fingerprint(module) == before


LOOP = """
func.func @f(%n: index, %x: f32) -> f32 {
  %r = "g.repeat"(%n, %x) ({
  ^bb0(%i: index, %a: f32):
    %b = "g.step"(%a) : (f32) -> f32
    %c = "test.op"(%b) {t.kept} : (f32) -> f32
    "g.end"(%c) : (f32) -> ()
  }) : (index, f32) -> f32
  func.return %r : f32
}
"""


def to_loop(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """`g.repeat` becomes `scf.for`; its own terminator becomes `scf.yield`."""

    def end(op: Operation, operands: Operands) -> None:
        rewriter.insert(scf.YieldOp(*operands))

    n, x = operands
    region = rewriter.convert_region(op.regions[0], terminator=end)
    rewriter.replace(op, scf.ForOp(n, n, n, [x], region))


def test_a_pattern_converts_the_terminator_of_its_region():
    module = parse(LOOP)
    moved = next(op for op in module.walk() if "t.kept" in op.attributes)
    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.repeat", to_loop), rename("g.step", "h.step")],
    )
    verify_module(module)
    assert body(module)[1:6] == [
        "%r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32) {",
        '%b = "h.step"(%a) : (f32) -> f32',
        '%c = "test.op"(%b) {t.kept} : (f32) -> f32',
        "scf.yield %c : f32",
        "}",
    ]
    assert moved in list(module.walk())


def test_a_pattern_inlines_a_block_more_than_once():
    """The first time its ops are moved, then they are copied."""
    module = parse(LOOP)

    def unroll(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        n, value = operands
        for _ in range(3):
            (value,) = rewriter.inline_block(op.regions[0].block, (n, value))
        rewriter.replace(op, (), (value,))

    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.repeat", unroll), rename("g.step", "h.step")],
    )
    verify_module(module)
    assert body(module)[1:-1] == [
        '%b = "h.step"(%x) : (f32) -> f32',
        '%r = "test.op"(%b) {t.kept} : (f32) -> f32'.replace("%r", "%c"),
        '%b_1 = "h.step"(%c) : (f32) -> f32',
        '%c_1 = "test.op"(%b_1) {t.kept} : (f32) -> f32',
        '%b_2 = "h.step"(%c_1) : (f32) -> f32',
        '%c_2 = "test.op"(%b_2) {t.kept} : (f32) -> f32',
        "func.return %c_2 : f32",
    ]


def with_region(name: str):
    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        converter = rewriter.converter
        types = op.result_types
        if converter is not None:
            types = [converter.convert_one(t) for t in types]
        regions = [rewriter.convert_region(r) for r in op.regions]
        new = unregistered(name, operands.flat, types, regions=regions)
        rewriter.replace(op, new)

    return rewrite


NESTED = """
func.func @f(%n: index, %x: f32) -> f32 {
  %r = "g.outer"(%n, %x) ({
  ^bb0(%i: index):
    %c = "g.step"(%i) : (index) -> f32
    "test.op"() ({
      "test.op"(%i, %c) {t.deep} : (index, f32) -> ()
      "test.termop"() : () -> ()
    }) : () -> ()
    "test.termop"(%c) : (f32) -> ()
  }) : (index, f32) -> f32
  func.return %r : f32
}
"""


@pytest.mark.parametrize("again", [0, 1, 2])
def test_a_region_of_a_generated_op_is_converted_again(again: int):
    """Values from the first conversion are found by the later ones."""
    module = parse(NESTED)
    deep = next(op for op in module.walk() if "t.deep" in op.attributes)
    names = ["g.outer", "g.middle", "g.inner", "h.done"]
    names = [*names[: again + 1], names[-1]]
    patterns = [pattern(old, with_region(new)) for old, new in pairwise(names)]
    apply_full_conversion(module, illegal("g"), [*patterns, rename("g.step", "h.step")])
    verify_module(module)
    assert body(module)[1:-2] == [
        '%r = "h.done"(%n, %x) ({',
        "^bb0(%i: index):",
        '%c = "h.step"(%i) : (index) -> f32',
        '"test.op"() ({',
        '"test.op"(%i, %c) {t.deep} : (index, f32) -> ()',
        '"test.termop"() : () -> ()',
        "}) : () -> ()",
        '"test.termop"(%c) : (f32) -> ()',
        "}) : (index, f32) -> f32",
    ]
    assert deep in list(module.walk())


def test_a_region_of_a_generated_op_changes_type_again():
    converter = index_to_i64()
    converter.use_casts()
    module = parse(NESTED)
    narrow = TypeConverter(lambda t: i32 if t == i64 else None)
    narrow.use_casts()
    apply_full_conversion(
        module,
        illegal("g"),
        [
            pattern("g.outer", with_region("g.middle")),
            pattern("g.middle", with_region("h.done"), converter=narrow),
            rename("g.step", "h.step"),
        ],
        converter,
    )
    verify_module(module)
    assert "^bb0(%i: i32):" in body(module)
    assert "g." not in str(module)


def test_the_terminator_of_a_generated_region_sees_the_last_values():
    module = parse(NESTED.replace("(%c) : (f32)", "(%i, %c) : (index, f32)"))

    def last(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        def end(op: Operation, operands: Operands) -> None:
            rewriter.insert(unregistered("h.end", operands.flat))

        region = rewriter.convert_region(op.regions[0], terminator=end)
        new = unregistered("h.done", operands.flat, op.result_types, regions=(region,))
        rewriter.replace(op, new)

    apply_full_conversion(
        module,
        illegal("g"),
        [
            pattern("g.outer", with_region("g.middle")),
            pattern("g.middle", last),
            rename("g.step", "h.step"),
        ],
    )
    verify_module(module)
    assert '"h.end"(%i, %c) : (index, f32) -> ()' in body(module)


def test_converting_a_region_again_is_taken_back():
    """The op that was generated may stay, and is as the first pattern left it."""
    module = parse(NESTED)
    target = ConversionTarget()
    target.add_illegal_op("g.outer", "g.step")

    def convert_and_refuse(
        op: Operation, operands: Operands, rewriter: ConversionRewriter
    ):
        rewriter.convert_region(op.regions[0])
        return Refusal("no")

    report = apply_partial_conversion(
        module,
        target,
        [
            pattern("g.outer", with_region("g.middle")),
            pattern("g.middle", convert_and_refuse),
            rename("g.step", "h.step"),
        ],
    )
    verify_module(module)
    assert '"test.op"(%i, %c) {t.deep} : (index, f32) -> ()' in body(module)
    assert report.rewrites == {"Pattern": 1, "g.step->h.step": 1}


def test_regions_that_generate_regions_without_end_use_up_the_budget():
    module = parse('"g.a"() : () -> ()')

    def nest(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        region = Region(Block([unregistered("g.a")]))
        rewriter.replace(op, unregistered("g.b", regions=(region,)))

    with pytest.raises(BudgetError, match="there is still work for 'Fill', 'Nest'"):
        apply_full_conversion(
            module,
            illegal("g"),
            [
                pattern("g.a", nest, name="Nest"),
                pattern("g.b", with_region("h.b"), name="Fill"),
            ],
        )


def test_a_part_of_a_module_is_converted():
    """What the rest of it defines stays as it is."""
    module = parse(
        """
        %x = "test.op"() : () -> f32
        "test.op"() ({
          "g.a"(%x) : (f32) -> ()
          "test.op"(%x) : (f32) -> ()
          "test.termop"() : () -> ()
        }) : () -> ()
        "g.a"(%x) : (f32) -> ()
        """
    )
    _, part, _ = module.body.ops
    apply_full_conversion(part, illegal("g"), [rename("g.a", "h.a")])
    verify_module(module)
    assert body(module) == [
        '%x = "test.op"() : () -> f32',
        '"test.op"() ({',
        '"h.a"(%x) : (f32) -> ()',
        '"test.op"(%x) : (f32) -> ()',
        '"test.termop"() : () -> ()',
        "}) : () -> ()",
        '"g.a"(%x) : (f32) -> ()',
    ]


def test_a_failure_in_a_region_is_taken_back_with_its_pattern():
    module = parse(NESTED)

    def convert_and_refuse(
        op: Operation, operands: Operands, rewriter: ConversionRewriter
    ):
        rewriter.convert_region(op.regions[0])
        return Refusal("no")

    def leave_out(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.replace(op, unregistered("h.done", operands.flat, op.result_types))

    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.outer", convert_and_refuse), pattern("g.outer", leave_out)],
    )
    assert body(module)[1] == '%r = "h.done"(%n, %x) : (index, f32) -> f32'


def test_a_region_of_a_generated_op_is_not_converted_twice():
    module = parse(NESTED)

    def twice(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        for region in (*op.regions, *op.regions):
            rewriter.convert_region(region)

    report = analyze_conversion(
        module,
        illegal("g"),
        [
            pattern("g.outer", with_region("g.middle"), name="P"),
            pattern("g.middle", twice, name="Q"),
            rename("g.step", "h.step"),
        ],
    )
    assert [f.reason for f in report.failures] == [
        "P: generated 'g.middle', which has no legal form "
        "(Q: a region of an op that a pattern generated is converted once)"
    ]


def test_what_was_done_in_a_region_is_taken_back_with_its_pattern():
    module = parse(LOOP)

    def and_refuse(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        to_loop(op, operands, rewriter)
        rewriter.inline_block(op.regions[0].block, operands.flat)
        return Refusal("only trying")

    for patterns, works in (
        ([pattern("g.repeat", to_loop)], True),
        ([], False),
    ):
        before = fingerprint(module)
        report = analyze_conversion(
            module,
            illegal("g"),
            [
                pattern("g.repeat", and_refuse, benefit=2, name="Try"),
                rename("g.step", "h.step"),
                *patterns,
            ],
        )
        assert fingerprint(module) == before
        assert report.ok is works
        assert report.converted["g.step"] == 1
        if not works:
            assert [(f.op_name, f.reason) for f in report.failures] == [
                ("g.repeat", "Try: only trying"),
                ("g.end", "no pattern"),
            ]


def test_an_entry_block_may_have_a_signature_of_its_own():
    module = parse(
        """
        func.func @f(%a: index, %b: f32) {
          "test.op"(%a) : (index) -> ()
          "g.use"(%a, %b) : (index, f32) -> ()
          func.return
        }
        """
    )
    converter = index_to_i64()
    converter.use_casts()

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        def prologue(
            groups: tuple[tuple[BlockArgument, ...], ...],
        ) -> list[SSAValue]:
            (pointer, extra), (b,) = groups
            return [
                rewriter.insert(
                    unregistered("h.load", (pointer, extra), (i64,))
                ).results[0],
                b,
            ]

        region = rewriter.convert_region(
            op.regions[0],
            signature=Signature(((i64, f32), (f32,))),
            extra_types=(i64,),
            prologue=prologue,
        )
        rewriter.replace(op, unregistered("h.func", regions=(region,)))

    apply_full_conversion(
        module,
        illegal("g", "func"),
        [
            pattern(func.FuncOp, rewrite),
            rename("g.use", "h.use"),
            rename("func.return", "h.return"),
        ],
        converter,
    )
    assert body(module) == [
        '"h.func"() ({',
        "^bb0(%a: i64, %a_1: f32, %b: f32, %0: i64):",
        '%1 = "h.load"(%a, %a_1) : (i64, f32) -> i64',
        "%2 = builtin.unrealized_conversion_cast %1 : i64 to index",
        '"test.op"(%2) : (index) -> ()',
        '"h.use"(%1, %b) : (i64, f32) -> ()',
        '"h.return"() : () -> ()',
        "}) : () -> ()",
    ]


IF = """
func.func @f(%c: i1, %x: f32) -> f32 {
  %before = "test.op"() : () -> f32
  %r = scf.if %c -> (f32) {
    %s = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      scf.yield %before : f32
    }
    scf.yield %s : f32
  } else {
    scf.yield %before : f32
  }
  %after = "test.op"(%r) : (f32) -> f32
  func.return %after : f32
}
"""


def to_branches(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    """`scf.if` becomes blocks; what follows goes into a block of its own."""
    assert isinstance(op, scf.IfOp)
    (condition,) = operands
    after = rewriter.new_block(op.result_types)

    def branch(op: Operation, operands: Operands) -> None:
        rewriter.insert(cf.BranchOp(after, *operands))

    then, otherwise = (
        rewriter.convert_region(r, terminator=branch) for r in op.regions
    )
    first, second = then.blocks.first, otherwise.blocks.first
    assert first is not None and second is not None
    rewriter.insert(cf.ConditionalBranchOp(condition, first, (), second, ()))
    rewriter.append_blocks(then)
    rewriter.append_blocks(otherwise)
    rewriter.continue_in(after)
    rewriter.replace(op, (), after.args)


def rebuild(op: Operation, operands: Operands, rewriter: ConversionRewriter):
    region = rewriter.convert_region(op.regions[0])
    rewriter.replace(
        op, func.FuncOp.create(properties=op.properties, regions=(region,))
    )


@pytest.mark.parametrize("old", [False, True])
def test_structured_control_flow_becomes_blocks(old: bool):
    """In a function that stays, and in one that is rebuilt itself."""
    module = parse(IF)
    target = illegal("scf")
    target.add_dynamically_legal_op(
        func.FuncOp, predicate=lambda op: "old" not in op.attributes
    )
    function = module.body.block.first_op
    assert function is not None
    if old:
        function.attributes["old"] = f32
    patterns = [
        pattern(scf.IfOp, to_branches),
        pattern(func.FuncOp, rebuild, drops=("old",)),
    ]
    apply_full_conversion(module, target, patterns)
    verify_module(module)
    assert body(module) == [
        "func.func @f(%c: i1, %x: f32) -> f32 {",
        '%before = "test.op"() : () -> f32',
        "cf.cond_br %c, ^bb1, ^bb5",
        "^bb1:",
        "cf.cond_br %c, ^bb2, ^bb3",
        "^bb2:",
        "cf.br ^bb4(%x : f32)",
        "^bb3:",
        "cf.br ^bb4(%before : f32)",
        "^bb4(%s: f32):",
        "cf.br ^bb6(%s : f32)",
        "^bb5:",
        "cf.br ^bb6(%before : f32)",
        "^bb6(%r: f32):",
        '%after = "test.op"(%r) : (f32) -> f32',
        "func.return %after : f32",
        "}",
    ]


def test_blocks_are_taken_back_too():
    for text in (IF, IF.replace('"test.op"(%r)', '"g.op"(%r)')):
        module = parse(text)
        before = fingerprint(module)
        analyze_conversion(
            module, illegal("scf", "g"), [pattern(scf.IfOp, to_branches)]
        )
        assert fingerprint(module) == before


def test_a_pattern_inserts_elsewhere():
    """At the start of the block of the input, or in a block of its own."""
    module = parse(
        """
        func.func @f() {
          "test.op"() : () -> ()
          "g.a"() : () -> ()
          "test.op"() : () -> ()
          func.return
        }
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        assert rewriter.block is op.parent
        with rewriter.at_start(rewriter.block):
            rewriter.insert(unregistered("h.first"))
            rewriter.insert(unregistered("g.second"))
        with rewriter.at_end(rewriter.block):
            rewriter.insert(unregistered("h.here"))
        block = Block([unregistered("g.second"), unregistered("h.b")])
        with rewriter.at_end(block):
            rewriter.insert(unregistered("h.c"))
        with rewriter.at_start(block):
            rewriter.insert(unregistered("h.a"))
        rewriter.replace(op, unregistered("h.hold", regions=(Region(block),)))

    patterns = [
        pattern("g.a", rewrite, name="Elsewhere"),
        rename("g.second", "h.second"),
    ]
    expected = [
        "func.func @f() {",
        '"h.first"() : () -> ()',
        '"h.second"() : () -> ()',
        '"test.op"() : () -> ()',
        '"h.here"() : () -> ()',
        '"h.hold"() ({',
        '"h.a"() : () -> ()',
        '"h.second"() : () -> ()',
        '"h.b"() : () -> ()',
        '"h.c"() : () -> ()',
        "}) : () -> ()",
        '"test.op"() : () -> ()',
        "func.return",
        "}",
    ]

    def and_refuse(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewrite(op, operands, rewriter)
        rewriter.refuse("only trying")

    before = fingerprint(module)
    first = pattern("g.a", and_refuse, benefit=2)
    analyze_conversion(module, illegal("g"), [first, *patterns])
    assert fingerprint(module) == before
    apply_full_conversion(module, illegal("g"), [first, *patterns])
    assert body(module) == expected


def test_a_block_that_is_not_visited_yet_is_refused():
    module = parse(
        """
        "g.a"() : () -> ()
        func.func @f() {
          func.return
        }
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        function = op.next_op
        assert function is not None
        with rewriter.at_start(function.regions[0].block):
            pass

    with pytest.raises(PatternError, match="is not visited yet"):
        apply_full_conversion(module, illegal("g"), [pattern("g.a", rewrite)])


def test_a_region_that_its_pattern_ignores_goes_with_its_op():
    module = parse(
        """
        %x = "test.op"() : () -> f32
        "g.hold"() ({
          %y = "g.inner"(%x) : (f32) -> f32
          "test.op"(%x, %y) : (f32, f32) -> ()
        }) : () -> ()
        """
    )
    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.hold", lambda op, operands, rewriter: rewriter.erase(op))],
    )
    assert body(module) == ['%x = "test.op"() : () -> f32']
    (only,) = module.body.ops
    assert only.results[0].first_use is None


# Casts and replacements


def test_casts_that_lead_back_are_removed():
    module = parse(
        """
        %0 = "test.op"() : () -> index
        %1 = builtin.unrealized_conversion_cast %0 : index to i64
        %2 = builtin.unrealized_conversion_cast %1 : i64 to f32
        %3 = builtin.unrealized_conversion_cast %2 : f32 to index
        "test.op"(%3) : (index) -> ()
        """
    )
    target = ConversionTarget()
    target.add_illegal_op(UnrealizedConversionCastOp)
    apply_full_conversion(module, target, [RemoveCast()])
    assert body(module) == [
        '%0 = "test.op"() : () -> index',
        '"test.op"(%0) : (index) -> ()',
    ]


def test_casts_between_types_that_have_become_the_same_are_removed():
    module = parse(
        """
        %0 = "g.a"() : () -> index
        %1 = builtin.unrealized_conversion_cast %0 : index to i64
        "test.op"(%1) : (i64) -> ()
        """
    )
    target = illegal("g")
    target.add_illegal_op(UnrealizedConversionCastOp)
    apply_full_conversion(
        module, target, [RemoveCast(), rename("g.a", "h.a")], index_to_i64()
    )
    assert body(module) == ['%0 = "h.a"() : () -> i64', '"test.op"(%0) : (i64) -> ()']


def test_casts_that_lead_elsewhere_stay():
    module = parse(
        """
        %0 = "test.op"() : () -> index
        %1 = builtin.unrealized_conversion_cast %0 : index to i64
        %2 = builtin.unrealized_conversion_cast %1 : i64 to f32
        "test.op"(%2, %1) : (f32, i64) -> ()
        """
    )
    target = ConversionTarget()
    target.add_illegal_op(UnrealizedConversionCastOp)
    report = analyze_conversion(module, target, [RemoveCast()])
    assert [f.reason for f in report.failures] == [
        "RemoveCast: expected casts to lead back to the type that they started from, "
        f"but got '(index)' to '({type})'"
        for type in ("i64", "f32")
    ]


def test_an_op_is_replaced_by_one_of_another_class():
    target = ConversionTarget()
    target.add_illegal_op(arith.AddfOp)
    module = parse(
        """
        %0 = "test.op"() : () -> f32
        %1 = arith.addf %0, %0 fastmath<fast> : f32
        """
    )
    report = apply_full_conversion(
        module,
        target,
        [ReplaceOp(arith.AddfOp, arith.MulfOp, lambda op: op.properties)],
    )
    assert body(module)[1] == "%1 = arith.mulf %0, %0 fastmath<fast> : f32"
    assert report.rewrites == {"Replace(arith.mulf)": 1}

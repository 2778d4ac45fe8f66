"""Type conversion: operands, results, materialisations, attributes and locations."""

import pytest
from conversion_cases import (
    all_ops,
    body,
    fingerprint,
    index_to_i64,
    parse,
    pattern,
    rename,
    unregistered,
)
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    UnrealizedConversionCastOp,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from transom.dialects.verifier import verify_module
from transom.lowering.conversion import (
    AuditError,
    ConversionError,
    ConversionRewriter,
    ConversionTarget,
    Operands,
    PatternError,
    Refusal,
    TypeConverter,
    analyze_conversion,
    apply_full_conversion,
)

INDEX = IndexType()


def illegal(*dialects: str) -> ConversionTarget:
    target = ConversionTarget()
    target.add_illegal_dialect(*dialects)
    return target


def split_memref() -> TypeConverter:
    """A memref becomes an i64 and one more per dynamic size; f64 becomes nothing."""

    def convert(type: Attribute) -> Attribute | tuple[Attribute, ...] | None:
        if isinstance(type, MemRefType):
            return (i64,) * (
                1 + sum(size == DYNAMIC_INDEX for size in type.get_shape())
            )
        if str(type) == "f64":
            return ()
        return None

    return TypeConverter(convert)


# The converter


def test_a_converter_maps_one_to_one_several_or_none():
    converter = split_memref()
    assert converter.convert(f32) == (f32,)
    assert converter.convert(MemRefType(f32, (4, DYNAMIC_INDEX, DYNAMIC_INDEX))) == (
        i64,
        i64,
        i64,
    )
    assert converter.convert_one(MemRefType(f32, (4,))) == i64
    assert converter.is_legal(f32)
    assert not converter.is_legal(MemRefType(f32, (4,)))
    signature = converter.convert_signature((f32, MemRefType(f32, (DYNAMIC_INDEX,))))
    assert signature.groups == ((f32,), (i64, i64))
    assert signature.types == (f32, i64, i64)


def test_the_last_conversion_wins_and_one_of_a_class_before_all():
    converter = index_to_i64()
    converter.add_conversion(lambda t: i32 if t == INDEX else None)
    assert converter.convert_one(INDEX) == i32
    converter.add_conversion(lambda t: f32, of=IndexType)
    assert converter.convert_one(INDEX) == f32
    converter.add_conversion(lambda t: None, of=IndexType)
    assert converter.convert_one(INDEX) == f32


def test_legality_of_types():
    converter = index_to_i64()
    assert not converter.is_legal_signature(FunctionType.from_lists([f32], [INDEX]))
    assert converter.is_legal_signature(FunctionType.from_lists([f32], [i64]))
    module = parse(
        """
        %0 = "test.op"() : () -> index
        "test.op"(%0) ({
        ^bb0(%a: f32, %b: index):
          "test.termop"() : () -> ()
        }) : (index) -> ()
        func.func private @f(f32) -> index
        "test.op"() ({
        ^bb0(%a: f32, %b: index):
          "test.termop"() : () -> ()
        }) : () -> ()
        "test.op"() : () -> i64
        """
    )
    answers = [converter.is_legal_op(op) for op in module.body.ops]
    assert answers == [
        Refusal("result 0 has type 'index'"),
        Refusal("operand 0 has type 'index'"),
        Refusal("result 0 has type 'index'"),
        Refusal("block argument 1 has type 'index'"),
        True,
    ]


def test_a_type_may_be_refused_with_a_reason():
    module = parse('%0 = "g.a"() : () -> tensor<*xf32>')
    converter = TypeConverter(
        lambda t: Refusal(f"expected a ranked type, but got '{t}'")
    )
    report = analyze_conversion(
        module, illegal("g"), [rename("g.a", "h.a", name="P")], converter
    )
    assert [f.reason for f in report.failures] == [
        "P: expected a ranked type, but got 'tensor<*xf32>'"
    ]


def test_a_pattern_that_wants_one_type_refuses_several():
    module = parse('%0 = "g.a"() : () -> memref<?xf32>')
    report = analyze_conversion(
        module, illegal("g"), [rename("g.a", "h.a", name="P")], split_memref()
    )
    assert [f.reason for f in report.failures] == [
        "P: expected 'memref<?xf32>' to convert to one type, but got '(i64, i64)'"
    ]


# Operands and results


def test_types_change_along_a_chain_without_casts():
    module = parse(
        """
        %0 = "g.a"() : () -> index
        %1 = "g.b"(%0) : (index) -> index
        "g.c"(%0, %1) : (index, index) -> ()
        """
    )
    apply_full_conversion(
        module,
        illegal("g"),
        [rename(f"g.{n}", f"h.{n}") for n in "abc"],
        index_to_i64(),
    )
    assert body(module) == [
        '%0 = "h.a"() : () -> i64',
        '%1 = "h.b"(%0) : (i64) -> i64',
        '"h.c"(%0, %1) : (i64, i64) -> ()',
    ]


def one_to_n(
    op: Operation, operands: Operands, rewriter: ConversionRewriter
) -> Refusal | None:
    """`g.x` becomes `h.x` with all values of its operands, and one op per result."""
    assert rewriter.converter is not None
    groups: list[tuple[SSAValue, ...]] = []
    for result in op.results:
        types = rewriter.converter.convert(result.type)
        groups.append(
            tuple(
                rewriter.insert(unregistered("h.make", operands.flat, (type,))).results[
                    0
                ]
                for type in types
            )
        )
    rewriter.replace(op, unregistered("h.end", operands.flat), groups)


def test_one_value_becomes_several_or_none():
    module = parse(
        """
        %m, %n = "g.a"() : () -> (memref<?xf32>, f64)
        %1 = "g.b"(%m, %n) : (memref<?xf32>, f64) -> f32
        """
    )
    apply_full_conversion(
        module, illegal("g"), [pattern(("g.a", "g.b"), one_to_n)], split_memref()
    )
    assert body(module) == [
        '%m = "h.make"() : () -> i64',
        '%m_1 = "h.make"() : () -> i64',
        '"h.end"() : () -> ()',
        '%0 = "h.make"(%m, %m_1) : (i64, i64) -> f32',
        '"h.end"(%m, %m_1) : (i64, i64) -> ()',
    ]


def test_operands_show_groups_and_one_value_where_there_is_one():
    module = parse(
        """
        %m, %n, %x = "g.a"() : () -> (memref<?xf32>, f64, f32)
        "g.b"(%x, %m, %n) : (f32, memref<?xf32>, f64) -> ()
        """
    )
    seen: list[object] = []

    def look(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        seen.append([len(group) for group in operands.groups])
        seen.append(len(operands))
        seen.append(operands[0] is operands.groups[0][0])
        seen.append(len(operands.flat))
        for use in (lambda: operands[1], lambda: list(operands)):
            with pytest.raises(PatternError, match=r"operand 1 of 'g\.b' has become 2"):
                use()
        rewriter.erase(op)

    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.a", one_to_n), pattern("g.b", look)],
        split_memref(),
    )
    assert seen == [[1, 2, 0], 3, True, 3]


def test_operands_are_found_by_name():
    module = parse(
        """
        %lb, %x = "test.op"() : () -> (index, f32)
        %0 = scf.for %i = %lb to %lb step %lb iter_args(%a = %x) -> (f32) {
          scf.yield %a : f32
        }
        """
    )
    seen: list[object] = []

    def look(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        seen.append(list(operands.named("iter_args")) == [op.operands[3]])
        seen.append(list(operands.named("step")) == [op.operands[2]])
        with pytest.raises(KeyError, match="has no operand 'nothing'"):
            operands.named("nothing")
        return Refusal("only looking")

    analyze_conversion(module, illegal("scf"), [pattern("scf.for", look)])
    assert seen == [True, True]


def test_a_pattern_may_use_original_operands():
    """What it takes from the original op is replaced when the op is inserted."""
    module = parse(
        """
        %0 = "g.a"() : () -> f32
        "g.b"(%0) : (f32) -> ()
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        rewriter.replace(op, unregistered("h.b", op.operands))

    apply_full_conversion(
        module, illegal("g"), [rename("g.a", "h.a"), pattern("g.b", rewrite)]
    )
    assert body(module) == ['%0 = "h.a"() : () -> f32', '"h.b"(%0) : (f32) -> ()']


def test_a_pattern_can_ask_what_a_value_became():
    module = parse(
        """
        %0 = "g.a"() : () -> index
        %m = "g.m"() : () -> memref<?xf32>
        "g.b"() : () -> ()
        """
    )
    converter = split_memref()
    converter.add_conversion(lambda t: i64, of=IndexType)

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        producer, memref, _ = rewriter.root.regions[0].block.ops
        one = rewriter.converted(producer.results[0])
        two = rewriter.converted_group(memref.results[0])
        with pytest.raises(PatternError, match="use converted_group"):
            rewriter.converted(memref.results[0])
        rewriter.replace(op, unregistered("h.b", (one, *two)))

    apply_full_conversion(
        module,
        illegal("g"),
        [rename("g.a", "h.a"), pattern("g.m", one_to_n), pattern("g.b", rewrite)],
        converter,
    )
    assert body(module)[-1] == '"h.b"(%0, %m, %m_1) : (i64, i64, i64) -> ()'


def test_a_pattern_may_have_a_converter_of_its_own():
    module = parse('%0 = "g.a"() : () -> index\n%1 = "g.b"() : () -> index')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        assert rewriter.converter is not None
        types = rewriter.converter.convert(op.results[0].type)
        rewriter.replace(op, unregistered("h.a", (), types))

    own = TypeConverter(lambda t: i32 if t == INDEX else None)
    apply_full_conversion(
        module,
        illegal("g"),
        [pattern("g.a", rewrite, converter=own), pattern("g.b", rewrite)],
        index_to_i64(),
    )
    assert body(module) == ['%0 = "h.a"() : () -> i32', '%1 = "h.a"() : () -> i64']


# Materialisations

PRODUCER = '%0 = "g.a"() : () -> index\n"test.op"(%0) : (index) -> ()'
CONSUMER = '%0 = "test.op"() : () -> index\n"g.b"(%0) : (index) -> ()'


def test_a_missing_source_materialization_names_hook_and_types():
    module = parse(PRODUCER)
    before = fingerprint(module)
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module, illegal("g"), [rename("g.a", "h.a")], index_to_i64()
        )
    assert str(error.value) == (
        "m.mlir:2:1: error: no source materialization for 'test.op' x1 (from 'i64' to "
        "'index' for operand 0; see TypeConverter.add_source_materialization); "
        "its type is (index) -> ()"
    )
    assert fingerprint(module) == before


def test_a_missing_target_materialization_names_hook_and_types():
    module = parse(CONSUMER)
    before = fingerprint(module)
    with pytest.raises(ConversionError) as error:
        apply_full_conversion(
            module, illegal("g"), [rename("g.b", "h.b", name="P")], index_to_i64()
        )
    assert str(error.value) == (
        "m.mlir:2:1: error: no legal form for 'g.b' x1 (P: no target materialization "
        "from 'index' to 'i64' for operand 0; see "
        "TypeConverter.add_target_materialization); its type is (index) -> ()"
    )
    assert fingerprint(module) == before


def test_an_operand_from_an_op_that_stayed_is_not_blamed_on_a_hook():
    module = parse('%0 = "g.a"() : () -> index\n"g.b"(%0) : (index) -> ()')
    report = analyze_conversion(
        module, illegal("g"), [rename("g.b", "h.b", name="P")], index_to_i64()
    )
    assert [(f.op_name, f.reason) for f in report.failures] == [
        ("g.a", "no pattern"),
        ("g.b", "P: operand 0 comes from 'g.a', which stayed"),
    ]
    assert str(ConversionError(report)) == (
        "m.mlir:1:1: error: no legal form for 'g.a' x1 (no pattern); its type is "
        "() -> index; 1 more op lacks an operand because of this"
    )
    module = parse(
        """
        %0 = "g.a"() : () -> index
        "g.b"(%0) : (index) -> ()
        "g.b"(%0) : (index) -> ()
        """
    )
    report = analyze_conversion(
        module, illegal("g"), [rename("g.b", "h.b")], index_to_i64()
    )
    assert ConversionError(report).message.endswith(
        "; 2 more ops lack an operand because of this"
    )


def test_hooks_materialise_in_both_directions():
    def source(
        rewriter: ConversionRewriter, type: Attribute, values: tuple[SSAValue, ...]
    ):
        return rewriter.insert(unregistered("k.back", values, (type,))).results[0]

    def target(
        rewriter: ConversionRewriter,
        types: tuple[Attribute, ...],
        values: tuple[SSAValue, ...],
        original: Attribute,
    ):
        assert original == INDEX
        return rewriter.insert(unregistered("k.to", values, types)).results[0]

    converter = index_to_i64()
    converter.add_source_materialization(source)
    converter.add_source_materialization(lambda rewriter, type, values: None)
    converter.add_target_materialization(target)
    converter.add_target_materialization(lambda rewriter, types, values, original: None)
    module = parse(
        """
        %0 = "g.a"() : () -> index
        "test.op"(%0, %0) : (index, index) -> ()
        "test.op"(%0) : (index) -> ()
        %1 = "test.op"() : () -> index
        "g.b"(%1) : (index) -> ()
        """
    )
    apply_full_conversion(
        module,
        illegal("g"),
        [
            rename("g.a", "h.a"),
            pattern(
                "g.b",
                lambda op, operands, rewriter: rewriter.replace(
                    op, unregistered("h.b", operands.flat)
                ),
                generates=("h.b",),  # what hooks insert is not the pattern's
            ),
        ],
        converter,
    )
    assert body(module) == [
        '%0 = "h.a"() : () -> i64',
        '%1 = "k.back"(%0) : (i64) -> index',
        '"test.op"(%1, %1) : (index, index) -> ()',
        '"test.op"(%1) : (index) -> ()',
        '%2 = "test.op"() : () -> index',
        '%3 = "k.to"(%2) : (index) -> i64',
        '"h.b"(%3) : (i64) -> ()',
    ]
    back, to = all_ops(module)[2], all_ops(module)[6]
    assert str(back.location) == 'loc("m.mlir":3:9)'  # where it is needed
    assert str(to.location) == 'loc("m.mlir":6:9)'


def test_a_value_cast_back_in_one_region_is_cast_again_in_the_next():
    converter = index_to_i64()
    converter.use_casts()
    module = parse(
        """
        %0, %c = "g.a"() : () -> (index, i1)
        scf.if %c {
          "test.op"(%0) : (index) -> ()
        } else {
          "test.op"(%0) : (index) -> ()
        }
        """
    )
    apply_full_conversion(module, illegal("g"), [rename("g.a", "h.a")], converter)
    verify_module(module)
    assert str(module).count("unrealized_conversion_cast") == 2


def test_casts_stand_in_for_missing_hooks():
    for text in (PRODUCER, CONSUMER):
        module = parse(text)
        converter = index_to_i64()
        converter.use_casts()
        apply_full_conversion(
            module,
            illegal("g"),
            [rename("g.a", "h.a"), rename("g.b", "h.b")],
            converter,
        )
        verify_module(module)
        assert [type(op) for op in module.body.ops].count(
            UnrealizedConversionCastOp
        ) == 1


def test_several_values_are_cast_back_to_one():
    converter = split_memref()
    converter.use_casts()
    module = parse(
        """
        %0 = "g.a"() : () -> memref<?xf32>
        "test.op"(%0) : (memref<?xf32>) -> ()
        %1 = "test.op"() : () -> memref<?xf32>
        "g.b"(%1) : (memref<?xf32>) -> ()
        """
    )
    apply_full_conversion(
        module, illegal("g"), [pattern(("g.a", "g.b"), one_to_n)], converter
    )
    lines = [line for line in body(module) if "cast" in line]
    assert [line.rpartition(" : ")[2] for line in lines] == [
        "i64, i64 to memref<?xf32>",
        "memref<?xf32> to i64, i64",
    ]


def test_a_generated_op_that_is_converted_in_turn_may_change_type():
    """The pattern goes on with the old type, which a cast gives back."""
    converter = index_to_i64()
    converter.use_casts()
    module = parse('"g.a"() : () -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        value = rewriter.insert(unregistered("m.a", (), (INDEX,))).results[0]
        rewriter.insert(unregistered("m.b", (value,)))
        rewriter.replace(op, unregistered("h.c", (value,)))

    apply_full_conversion(
        module,
        illegal("g", "m"),
        [pattern("g.a", rewrite), rename("m.a", "h.a"), rename("m.b", "h.b")],
        converter,
    )
    assert body(module) == [
        '%0 = "h.a"() : () -> i64',
        '"h.b"(%0) : (i64) -> ()',
        "%1 = builtin.unrealized_conversion_cast %0 : i64 to index",
        '"h.c"(%1) : (index) -> ()',
    ]


def test_values_may_be_used_before_they_are_defined():
    """In a graph region, such as that of a module."""
    for converter, expected in (
        (None, '"h.b"(%0) : (f32) -> ()\n%0 = "h.a"() : () -> f32'),
        (None, '"test.op"(%0) : (f32) -> ()\n%0 = "h.a"() : () -> f32'),
    ):
        text = expected.replace("h.", "g.")
        module = parse(text)
        apply_full_conversion(
            module,
            illegal("g"),
            [rename("g.a", "h.a"), rename("g.b", "h.b")],
            converter,
        )
        assert "\n".join(body(module)) == expected


def test_values_used_before_they_are_defined_change_type():
    converter = index_to_i64()
    converter.use_casts()
    module = parse(
        """
        "g.b"(%0) : (index) -> ()
        "test.op"(%0) : (index) -> ()
        %0 = "g.a"() : () -> index
        """
    )
    apply_full_conversion(
        module, illegal("g"), [rename("g.a", "h.a"), rename("g.b", "h.b")], converter
    )
    verify_module(module)
    text = str(module)
    assert '"h.a"() : () -> i64' in text
    assert "i64 to index" in text
    assert "g." not in text


def test_values_used_before_they_are_defined_need_a_hook_too():
    module = parse('"test.op"(%0) : (index) -> ()\n%0 = "g.a"() : () -> index')
    before = fingerprint(module)
    with pytest.raises(ConversionError, match="no source materialization for"):
        apply_full_conversion(
            module, illegal("g"), [rename("g.a", "h.a")], index_to_i64()
        )
    assert fingerprint(module) == before


# Locations, names and discardable attributes


def test_new_ops_get_the_location_of_the_old_one():
    module = parse('%0 = "g.a"() : () -> f32 loc("conv_3"("model.onnx":3:1))')
    place = module.body.block.first_op
    assert place is not None
    old = place.location

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        assert rewriter.location == old
        first = unregistered("h.a")
        other = unregistered("h.b", location=module.location)
        rewriter.replace(op, (first, other, unregistered("h.c", (), (f32,))))

    apply_full_conversion(module, illegal("g"), [pattern("g.a", rewrite)])
    assert [op.location for op in module.body.ops] == [old, module.location, old]


def test_locations_reach_ops_that_are_generated_in_turn():
    module = parse('"g.a"() : () -> ()')
    apply_full_conversion(
        module, illegal("g", "m"), [rename("g.a", "m.a"), rename("m.a", "h.a")]
    )
    assert [str(op.location) for op in module.body.ops] == ['loc("m.mlir":1:1)']


def test_names_of_values_survive():
    module = parse('%sum, %rest = "g.a"() : () -> (f32, f32)')
    apply_full_conversion(module, illegal("g"), [rename("g.a", "h.a")])
    assert body(module) == ['%sum, %rest = "h.a"() : () -> (f32, f32)']


def test_discardable_attributes_go_to_the_op_that_takes_the_place():
    module = parse(
        """
        %x = "test.op"() : () -> f32
        %0 = "g.a"(%x) {t.hint = 1 : i32, inherent} : (f32) -> f32
        "g.b"() {t.hint = 2 : i32} : () -> ()
        """
    )

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        first = rewriter.insert(unregistered("h.a", operands.flat, (f32,)))
        rewriter.replace(op, unregistered("h.after"), first.results)

    apply_full_conversion(
        module,
        illegal("g", "m"),
        [pattern("g.a", rewrite), rename("g.b", "m.b"), rename("m.b", "h.b")],
        audit=True,
    )
    assert body(module)[1:] == [
        '%0 = "h.a"(%x) {t.hint = 1 : i32} : (f32) -> f32',
        '"h.after"() : () -> ()',
        '"h.b"() {t.hint = 2 : i32} : () -> ()',
    ]


def test_discardable_attributes_of_registered_ops_are_those_not_declared():
    module = parse(
        """
        %x = "test.op"() : () -> f32
        %0 = arith.addf %x, %x {note, t.hint = 1 : i32} : f32
        """
    )
    apply_full_conversion(module, illegal("arith"), [rename("arith.addf", "h.add")])
    assert body(module)[1] == (
        '%0 = "h.add"(%x, %x) {note, t.hint = 1 : i32} : (f32, f32) -> f32'
    )


def test_an_attribute_that_the_pattern_sets_stays():
    module = parse('"g.a"() {t.hint = 1 : i32} : () -> ()')

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        new = unregistered("h.a")
        new.attributes["t.hint"] = f32
        rewriter.replace(op, new)

    apply_full_conversion(module, illegal("g"), [pattern("g.a", rewrite)])
    assert body(module) == ['"h.a"() {t.hint = f32} : () -> ()']


@pytest.mark.parametrize("erase", [True, False])
def test_an_audit_fails_on_lost_attributes(erase: bool):
    module = parse(
        """
        %0 = "test.op"() : () -> f32
        %1 = "g.a"(%0) {t.hint, t.dead} : (f32) -> f32
        %2 = "g.a"(%0) {t.hint} : (f32) -> f32
        """
    )
    before = fingerprint(module)

    def rewrite(op: Operation, operands: Operands, rewriter: ConversionRewriter):
        if erase:
            rewriter.erase(op)
        else:
            rewriter.replace(op, (), operands.flat)

    patterns = [pattern("g.a", rewrite, name="Fold", drops=("t.dead",))]
    with pytest.raises(AuditError) as error:
        apply_full_conversion(module, illegal("g"), patterns, audit=True)
    assert str(error.value) == (
        "m.mlir:3:9: error: Fold drops 't.hint' of 'g.a'\n"
        "m.mlir:4:9: note: Fold drops 't.hint' of 'g.a'"
    )
    assert fingerprint(module) == before
    report = apply_full_conversion(module, illegal("g"), patterns)
    assert [(d.op_name, d.attribute, d.pattern) for d in report.dropped] == [
        ("g.a", "t.hint", "Fold"),
        ("g.a", "t.hint", "Fold"),
    ]
    assert "Fold drops 't.hint' of 'g.a'" in str(report)

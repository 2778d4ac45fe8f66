"""
Attributes of `target`, `executor` and `llvm_cpu`: text, defaults, joins, subsumption.
"""

from collections.abc import Mapping
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    BoolAttr,
    Builtin,
    DictionaryAttr,
    Float64Type,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    f32,
    f64,
    i1,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from transom.dialects.executor import BytesAttr, Executor, SignatureAttr
from transom.dialects.graph import Graph
from transom.dialects.target import (
    OPTIONS,
    PHASES,
    AnyOfAttr,
    ConfigAttr,
    DeviceOp,
    ExecutorAttr,
    LinkOp,
    PlaceAttr,
    Target,
    TargetAttr,
    get_config,
    phase_of,
    place_of,
    set_config,
    set_phase,
    set_place,
    target_of,
)
from transom.dialects.target import Executor as ExecutorKind
from transom.targets.llvm_cpu.architectures import architectures
from transom.targets.llvm_cpu.dialect import LlvmCpu, LlvmCpuAttr


@irdl_attr_definition
class ToyAttr(TargetAttr):
    """Every kind of parameter."""

    name = "toy.target"

    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {
        "lanes": IntegerAttr(4, i64),
        "clock": FloatAttr(1.0, f64),
        "fast": BoolAttr.from_bool(False),
        "modes": ArrayAttr(()),
        "extra": DictionaryAttr({}),
        "count": IntAttr(0),
        "memory": UnitAttr(),
    }

    model: StringAttr = param_def()
    lanes: IntegerAttr[I64] = param_def()
    clock: FloatAttr[Float64Type] = param_def()
    fast: BoolAttr = param_def()
    modes: ArrayAttr[Attribute] = param_def()
    extra: DictionaryAttr = param_def()
    count: IntAttr = param_def()
    memory: SymbolRefAttr | UnitAttr = param_def()

    def verify(self) -> None:
        if self.lanes.value.data < 1:
            raise VerifyException("expected at least one lane")


Toy = Dialect("toy", [], [ToyAttr])


def parse(text: str) -> Attribute:
    ctx = Context()
    for dialect in (Builtin, Executor, Graph, LlvmCpu, Target, Toy):
        ctx.load_dialect(dialect)
    parser = Parser(ctx, text)
    attribute = parser.parse_attribute()
    assert parser.parse_optional_identifier() is None
    return attribute


UI8 = IntegerType(8, Signedness.UNSIGNED)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_$.]{0,8}", fullmatch=True)
texts = st.text(st.characters(codec="ascii"), max_size=8)
ints = st.integers(-(2**63), 2**63 - 1)
plain = st.one_of(
    ints.map(lambda n: IntegerAttr(n, i64)),
    st.integers(-128, 127).map(lambda n: IntegerAttr(n, i8)),
    st.integers(0, 255).map(
        lambda n: IntegerAttr(n, IntegerType(8, Signedness.UNSIGNED))
    ),
    st.booleans().map(BoolAttr.from_bool),
    st.floats(allow_nan=False).map(lambda x: FloatAttr(x, f64)),
    st.floats(width=32, allow_nan=False).map(lambda x: FloatAttr(x, f32)),
    texts.map(StringAttr),
    names.map(SymbolRefAttr),
    st.just(i1),
)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3).map(ArrayAttr[Attribute])
        | st.dictionaries(names, inner, max_size=3).map(DictionaryAttr)
    ),
    max_leaves=5,
)
toys = st.builds(
    ToyAttr,
    texts.map(StringAttr),
    st.integers(1, 2**63 - 1).map(lambda n: IntegerAttr(n, i64)),
    st.floats(allow_nan=False).map(lambda x: FloatAttr(x, f64)),
    st.booleans().map(BoolAttr.from_bool),
    st.lists(values, max_size=3).map(ArrayAttr[Attribute]),
    st.dictionaries(names, values, max_size=3).map(DictionaryAttr),
    ints.map(IntAttr),
    st.just(UnitAttr()) | names.map(SymbolRefAttr),
)


@st.composite
def cpus(draw: st.DrawFn) -> LlvmCpuAttr:
    architecture = draw(st.sampled_from(list(architectures().values())))
    cpu = draw(st.sampled_from(sorted(architecture.cpu_features)))
    changed = draw(
        st.lists(st.sampled_from(architecture.feature_names()), unique=True, max_size=4)
    )
    features = [
        f"{draw(st.sampled_from('-+'))}{name}"
        for name in changed
        if not architecture.lacking(cpu, name)
    ]
    return LlvmCpuAttr.get(cpu, features, architecture.triple)


targets = cpus() | toys
symbols = st.none() | names
places = st.builds(PlaceAttr.get, symbols, st.none() | targets, symbols)
configs = st.fixed_dictionaries(
    {},
    optional={
        "host": names.map(SymbolRefAttr),
        "default_place": places,
        "executor": st.sampled_from(ExecutorKind).map(ExecutorAttr),
        "phase": st.sampled_from(PHASES).map(StringAttr),
        "options": st.dictionaries(
            st.sampled_from(OPTIONS), st.booleans().map(BoolAttr.from_bool)
        ).map(DictionaryAttr),
    },
).map(ConfigAttr.from_keys)
tensors = st.lists(st.sampled_from((DYNAMIC_INDEX, 1, 4)), max_size=3).map(
    lambda shape: TensorType(f32, shape)
)
arguments = st.dictionaries(texts.filter(bool), tensors, max_size=3)


@st.composite
def signatures(draw: st.DrawFn) -> SignatureAttr:
    return SignatureAttr.get(draw(arguments).items(), draw(arguments).items())


@given(
    st.one_of(
        toys,
        cpus(),
        places,
        configs,
        signatures(),
        st.lists(places, min_size=1, max_size=3, unique=True).map(AnyOfAttr.get),
        st.binary(max_size=8).map(BytesAttr),
    )
)
def test_text_of_an_attribute_parses_to_it(attribute: Attribute):
    assert parse(str(attribute)) == attribute


def test_defaults_are_not_printed():
    toy = ToyAttr.from_keys({"model": StringAttr("a")})
    assert str(toy) == '#toy.target<model = "a">'
    assert str(ConfigAttr.from_keys({})) == "#target.config"


def test_a_whole_number_stands_for_a_float():
    assert parse('#toy.target<model = "a", clock = 2>') == ToyAttr.from_keys(
        {"model": StringAttr("a"), "clock": FloatAttr(2.0, f64)}
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('#toy.target<model = "a", lane = 1>', "did you mean 'lanes'?"),
        ("#toy.target<lanes = 1>", "expected 'model' in '#toy.target'"),
        ("#toy.target", "expected 'model' in '#toy.target'"),
        (
            "#toy.target<model = 1>",
            "expected a string for 'model' of '#toy.target', but got '1 : i64'",
        ),
        (
            '#toy.target<model = "a", memory = 1>',
            "expected a symbol for 'memory' of '#toy.target', but got '1 : i64'",
        ),
        (
            '#toy.target<model = "a", model = "b">',
            "key 'model' of '#toy.target' is given twice",
        ),
    ],
)
def test_wrong_keys_are_named(text: str, message: str):
    with pytest.raises(ParseError) as error:
        parse(text)
    assert message in error.value.msg


def test_keys_are_checked_in_python_too():
    with pytest.raises(VerifyException, match=r"unknown key .lane. of .#toy\.target."):
        ToyAttr.from_keys({"lane": IntegerAttr(1, i64)})
    with pytest.raises(VerifyException, match=r"expected .model. in .#toy\.target."):
        ToyAttr.from_keys({})
    with pytest.raises(VerifyException, match="expected at least one lane"):
        ToyAttr.from_keys({"model": StringAttr("a"), "lanes": IntegerAttr(0, i64)})


def toy(**keys: Attribute) -> ToyAttr:
    return ToyAttr.from_keys({"model": StringAttr("a"), **keys})


def test_a_target_that_says_less_subsumes_one_that_says_more():
    generic, specific = toy(), toy(lanes=IntegerAttr(8, i64))
    assert generic.subsumes(specific)
    assert not specific.subsumes(generic)
    assert not generic.subsumes(LlvmCpuAttr.get("znver4"))
    assert not toy(fast=BoolAttr.from_bool(True)).subsumes(specific)


@given(targets)
def test_a_target_subsumes_itself(target: TargetAttr):
    assert target.subsumes(target)


def test_a_device_runs_what_is_generic_enough():
    device = DeviceOp("d", [toy(lanes=IntegerAttr(8, i64))])
    assert device.supports(toy())
    assert not device.supports(toy(lanes=IntegerAttr(4, i64), count=IntAttr(1)))


@given(places, places, places)
def test_join_of_places_is_a_meet(a: PlaceAttr, b: PlaceAttr, c: PlaceAttr):
    assert a.join(a) == a
    assert a.join(b) == b.join(a)
    ab, bc = a.join(b), b.join(c)
    if ab is not None and bc is not None:
        assert ab.join(c) == a.join(bc)


def test_join_fills_in_what_is_open_and_refuses_what_differs():
    cpu, both = PlaceAttr.get("cpu"), PlaceAttr.get("cpu", None, "dram")
    assert cpu.join(PlaceAttr.get(memory="dram")) == both
    assert cpu.join(PlaceAttr.get("npu")) is None
    assert both.join(PlaceAttr.get("cpu", None, "sram")) is None
    assert not both.is_known
    assert PlaceAttr.get("cpu", toy(), "dram").is_known


def test_configuration_is_kept_on_the_module():
    module = ModuleOp([])
    assert get_config(module).phase is None
    assert get_config(module).executor is ExecutorKind.AOT
    set_phase(module, "placed")
    set_config(module, {"host": SymbolRefAttr("cpu")})
    assert str(module.attributes["target.config"]) == (
        '#target.config<host = @cpu, phase = "placed">'
    )
    assert get_config(module).host == "cpu"
    assert get_config(module).options == {"reduced_precision": False, "winograd": False}
    with pytest.raises(VerifyException, match="unknown phase 'place'"):
        set_phase(module, "place")


def test_a_function_has_its_own_place_and_phase_or_that_of_the_module():
    func = FuncOp.external("f", [], [])
    module = ModuleOp([func])
    assert place_of(func) is None and phase_of(func) is None
    set_phase(module, "graph")
    set_place(func, PlaceAttr.get("cpu"))
    assert place_of(func) == PlaceAttr.get("cpu")
    assert phase_of(func) == "graph"
    func.attributes["target.phase"] = StringAttr("tensor")
    assert phase_of(func) == "tensor"


def test_the_target_of_a_function_is_of_its_place_or_preferred_by_the_device():
    first, second = toy(), toy(lanes=IntegerAttr(8, i64))
    func = FuncOp.external("f", [], [])
    ModuleOp([DeviceOp("d", [first, second]), func])
    assert target_of(func) is None
    for place, expected in (
        (PlaceAttr.get("d"), first),
        (PlaceAttr.get("d", second), second),
        (PlaceAttr.get(None, second), second),
        (PlaceAttr.get("promised"), None),
        (PlaceAttr.get(), None),
    ):
        set_place(func, place)
        assert target_of(func) == expected


def test_a_link_takes_its_latency_and_the_bytes_over_its_bandwidth():
    assert LinkOp("a", "b", 100.0, 0.5).seconds(50) == 1.0
    assert LinkOp("a", "b", 100.0).seconds(0) == 0.0

"""
The `graph` dialect: whole-tensor operations, as a model exporter writes them.

Values are ranked tensors; a size is static or `?`, and `#graph.desc` may name it. Ops
are pure and have no notion of memory or loops. Control flow is `scf` on tensors. Every
op states its result shapes once, in `infer`. Lowered by `convert-graph-to-tir`.
"""

from xdsl.ir import Dialect

from transom.dialects.graph.arithmetic import (
    AddOp as AddOp,
)
from transom.dialects.graph.arithmetic import (
    AndOp as AndOp,
)
from transom.dialects.graph.arithmetic import (
    BitwiseOp as BitwiseOp,
)
from transom.dialects.graph.arithmetic import (
    DivOp as DivOp,
)
from transom.dialects.graph.arithmetic import (
    MaximumOp as MaximumOp,
)
from transom.dialects.graph.arithmetic import (
    MinimumOp as MinimumOp,
)
from transom.dialects.graph.arithmetic import (
    ModOp as ModOp,
)
from transom.dialects.graph.arithmetic import (
    MulOp as MulOp,
)
from transom.dialects.graph.arithmetic import (
    OrOp as OrOp,
)
from transom.dialects.graph.arithmetic import (
    PowOp as PowOp,
)
from transom.dialects.graph.arithmetic import (
    ShiftLeftOp as ShiftLeftOp,
)
from transom.dialects.graph.arithmetic import (
    ShiftRightOp as ShiftRightOp,
)
from transom.dialects.graph.arithmetic import (
    SubOp as SubOp,
)
from transom.dialects.graph.arithmetic import (
    XorOp as XorOp,
)
from transom.dialects.graph.constants import (
    ConstantOp as ConstantOp,
)
from transom.dialects.graph.contraction import (
    Conv2dOp as Conv2dOp,
)
from transom.dialects.graph.contraction import (
    MatmulOp as MatmulOp,
)
from transom.dialects.graph.cumulative import (
    CumulateKind as CumulateKind,
)
from transom.dialects.graph.cumulative import (
    CumulateKindAttr as CumulateKindAttr,
)
from transom.dialects.graph.cumulative import (
    CumulateOp as CumulateOp,
)
from transom.dialects.graph.desc import (
    DescAttr as DescAttr,
)
from transom.dialects.graph.desc import (
    LayoutAttr as LayoutAttr,
)
from transom.dialects.graph.desc import (
    SymbolAttr as SymbolAttr,
)
from transom.dialects.graph.desc import (
    desc_of as desc_of,
)
from transom.dialects.graph.desc import (
    dim_symbols as dim_symbols,
)
from transom.dialects.graph.desc import (
    layout_of as layout_of,
)
from transom.dialects.graph.desc import (
    physical_type as physical_type,
)
from transom.dialects.graph.desc import (
    place_of as place_of,
)
from transom.dialects.graph.desc import (
    tensor as tensor,
)
from transom.dialects.graph.desc import (
    why_not_physical as why_not_physical,
)
from transom.dialects.graph.desc import (
    with_desc as with_desc,
)
from transom.dialects.graph.elementwise import (
    BinaryOp as BinaryOp,
)
from transom.dialects.graph.elementwise import (
    BitcastOp as BitcastOp,
)
from transom.dialects.graph.elementwise import (
    CastOp as CastOp,
)
from transom.dialects.graph.elementwise import (
    CompareOp as CompareOp,
)
from transom.dialects.graph.elementwise import (
    ComparePredicate as ComparePredicate,
)
from transom.dialects.graph.elementwise import (
    ComparePredicateAttr as ComparePredicateAttr,
)
from transom.dialects.graph.elementwise import (
    ElementwiseOp as ElementwiseOp,
)
from transom.dialects.graph.elementwise import (
    SelectOp as SelectOp,
)
from transom.dialects.graph.elementwise import (
    UnaryOp as UnaryOp,
)
from transom.dialects.graph.folding import (
    GraphConstants as GraphConstants,
)
from transom.dialects.graph.functions import (
    AbsOp as AbsOp,
)
from transom.dialects.graph.functions import (
    CeilOp as CeilOp,
)
from transom.dialects.graph.functions import (
    ClampOp as ClampOp,
)
from transom.dialects.graph.functions import (
    CosOp as CosOp,
)
from transom.dialects.graph.functions import (
    ErfOp as ErfOp,
)
from transom.dialects.graph.functions import (
    ExpOp as ExpOp,
)
from transom.dialects.graph.functions import (
    FloorOp as FloorOp,
)
from transom.dialects.graph.functions import (
    GeluOp as GeluOp,
)
from transom.dialects.graph.functions import (
    LeakyReluOp as LeakyReluOp,
)
from transom.dialects.graph.functions import (
    LogOp as LogOp,
)
from transom.dialects.graph.functions import (
    NegOp as NegOp,
)
from transom.dialects.graph.functions import (
    NotOp as NotOp,
)
from transom.dialects.graph.functions import (
    ReciprocalOp as ReciprocalOp,
)
from transom.dialects.graph.functions import (
    ReluOp as ReluOp,
)
from transom.dialects.graph.functions import (
    RoundOp as RoundOp,
)
from transom.dialects.graph.functions import (
    RsqrtOp as RsqrtOp,
)
from transom.dialects.graph.functions import (
    SigmoidOp as SigmoidOp,
)
from transom.dialects.graph.functions import (
    SignOp as SignOp,
)
from transom.dialects.graph.functions import (
    SinOp as SinOp,
)
from transom.dialects.graph.functions import (
    SqrtOp as SqrtOp,
)
from transom.dialects.graph.functions import (
    TanhOp as TanhOp,
)
from transom.dialects.graph.indexing import (
    GatherElementsOp as GatherElementsOp,
)
from transom.dialects.graph.indexing import (
    GatherOp as GatherOp,
)
from transom.dialects.graph.indexing import (
    IotaOp as IotaOp,
)
from transom.dialects.graph.indexing import (
    NonzeroOp as NonzeroOp,
)
from transom.dialects.graph.indexing import (
    ScatterCombine as ScatterCombine,
)
from transom.dialects.graph.indexing import (
    ScatterCombineAttr as ScatterCombineAttr,
)
from transom.dialects.graph.indexing import (
    ScatterOp as ScatterOp,
)
from transom.dialects.graph.indexing import (
    SliceOp as SliceOp,
)
from transom.dialects.graph.marks import (
    CopyOp as CopyOp,
)
from transom.dialects.graph.marks import (
    ForwardOp as ForwardOp,
)
from transom.dialects.graph.marks import (
    OnDeviceOp as OnDeviceOp,
)
from transom.dialects.graph.marks import (
    PlaceMark as PlaceMark,
)
from transom.dialects.graph.marks import (
    PlaceMarkAttr as PlaceMarkAttr,
)
from transom.dialects.graph.marks import (
    RelayoutOp as RelayoutOp,
)
from transom.dialects.graph.movement import (
    ConcatOp as ConcatOp,
)
from transom.dialects.graph.movement import (
    PadOp as PadOp,
)
from transom.dialects.graph.normalization import (
    AlongAxisOp as AlongAxisOp,
)
from transom.dialects.graph.normalization import (
    BatchNormOp as BatchNormOp,
)
from transom.dialects.graph.normalization import (
    LogSoftmaxOp as LogSoftmaxOp,
)
from transom.dialects.graph.normalization import (
    SoftmaxOp as SoftmaxOp,
)
from transom.dialects.graph.operation import (
    GraphOp as GraphOp,
)
from transom.dialects.graph.operation import (
    check_type as check_type,
)
from transom.dialects.graph.operation import (
    infer_result_types as infer_result_types,
)
from transom.dialects.graph.operation import (
    tensor_type as tensor_type,
)
from transom.dialects.graph.pooling import (
    AvgPool2dOp as AvgPool2dOp,
)
from transom.dialects.graph.pooling import (
    MaxPool2dOp as MaxPool2dOp,
)
from transom.dialects.graph.quantization import (
    DequantizeOp as DequantizeOp,
)
from transom.dialects.graph.quantization import (
    QuantizeOp as QuantizeOp,
)
from transom.dialects.graph.reduction import (
    ArgReduceKind as ArgReduceKind,
)
from transom.dialects.graph.reduction import (
    ArgReduceKindAttr as ArgReduceKindAttr,
)
from transom.dialects.graph.reduction import (
    ArgReduceOp as ArgReduceOp,
)
from transom.dialects.graph.reduction import (
    ReduceKind as ReduceKind,
)
from transom.dialects.graph.reduction import (
    ReduceKindAttr as ReduceKindAttr,
)
from transom.dialects.graph.reduction import (
    ReduceOp as ReduceOp,
)
from transom.dialects.graph.refinement import (
    common as common,
)
from transom.dialects.graph.refinement import (
    refined as refined,
)
from transom.dialects.graph.reshaping import (
    BroadcastOp as BroadcastOp,
)
from transom.dialects.graph.reshaping import (
    InputDim as InputDim,
)
from transom.dialects.graph.reshaping import (
    ReshapeOp as ReshapeOp,
)
from transom.dialects.graph.reshaping import (
    ShapeAttr as ShapeAttr,
)
from transom.dialects.graph.reshaping import (
    TransposeOp as TransposeOp,
)
from transom.dialects.graph.shapes import (
    DYNAMIC as DYNAMIC,
)
from transom.dialects.graph.shapes import (
    DataDim as DataDim,
)
from transom.dialects.graph.shapes import (
    Dim as Dim,
)
from transom.dialects.graph.shapes import (
    DimExpr as DimExpr,
)
from transom.dialects.graph.shapes import (
    DimOf as DimOf,
)
from transom.dialects.graph.shapes import (
    ResultShape as ResultShape,
)
from transom.dialects.graph.shapes import (
    Symbol as Symbol,
)
from transom.dialects.graph.shapes import (
    evaluate as evaluate,
)
from transom.dialects.graph.sorting import (
    ArgsortOp as ArgsortOp,
)
from transom.dialects.graph.structure import (
    CompositeOp as CompositeOp,
)
from transom.dialects.graph.structure import (
    FusedOp as FusedOp,
)
from transom.dialects.graph.structure import (
    GroupOp as GroupOp,
)
from transom.dialects.graph.structure import (
    RegionOp as RegionOp,
)
from transom.dialects.graph.structure import (
    YieldOp as YieldOp,
)
from transom.dialects.graph.trigonometry import (
    AcoshOp as AcoshOp,
)
from transom.dialects.graph.trigonometry import (
    AcosOp as AcosOp,
)
from transom.dialects.graph.trigonometry import (
    AsinhOp as AsinhOp,
)
from transom.dialects.graph.trigonometry import (
    AsinOp as AsinOp,
)
from transom.dialects.graph.trigonometry import (
    AtanhOp as AtanhOp,
)
from transom.dialects.graph.trigonometry import (
    AtanOp as AtanOp,
)
from transom.dialects.graph.trigonometry import (
    CoshOp as CoshOp,
)
from transom.dialects.graph.trigonometry import (
    SinhOp as SinhOp,
)
from transom.dialects.graph.trigonometry import (
    TanOp as TanOp,
)
from transom.dialects.graph.weights import (
    FileAttr as FileAttr,
)
from transom.dialects.graph.weights import (
    WeightOp as WeightOp,
)
from transom.dialects.graph.weights import (
    WeightRefOp as WeightRefOp,
)
from transom.dialects.graph.weights import (
    weight_of as weight_of,
)

Graph = Dialect(
    "graph",
    [
        AbsOp,
        AcosOp,
        AcoshOp,
        AddOp,
        AndOp,
        ArgReduceOp,
        ArgsortOp,
        AsinOp,
        AsinhOp,
        AtanOp,
        AtanhOp,
        AvgPool2dOp,
        BatchNormOp,
        BitcastOp,
        BroadcastOp,
        CastOp,
        CeilOp,
        ClampOp,
        CompareOp,
        CompositeOp,
        ConcatOp,
        ConstantOp,
        Conv2dOp,
        CopyOp,
        CosOp,
        CoshOp,
        CumulateOp,
        DequantizeOp,
        DivOp,
        ErfOp,
        ExpOp,
        FloorOp,
        FusedOp,
        GatherElementsOp,
        GatherOp,
        GeluOp,
        IotaOp,
        LeakyReluOp,
        LogOp,
        LogSoftmaxOp,
        MatmulOp,
        MaxPool2dOp,
        MaximumOp,
        MinimumOp,
        ModOp,
        MulOp,
        NegOp,
        NonzeroOp,
        NotOp,
        OnDeviceOp,
        OrOp,
        PadOp,
        PowOp,
        QuantizeOp,
        ReciprocalOp,
        ReduceOp,
        RegionOp,
        RelayoutOp,
        ReluOp,
        ReshapeOp,
        RoundOp,
        RsqrtOp,
        ScatterOp,
        SelectOp,
        ShiftLeftOp,
        ShiftRightOp,
        SigmoidOp,
        SignOp,
        SinOp,
        SinhOp,
        SliceOp,
        SoftmaxOp,
        SqrtOp,
        SubOp,
        TanOp,
        TanhOp,
        TransposeOp,
        WeightOp,
        WeightRefOp,
        XorOp,
        YieldOp,
    ],
    [
        ArgReduceKindAttr,
        ComparePredicateAttr,
        CumulateKindAttr,
        DescAttr,
        FileAttr,
        LayoutAttr,
        PlaceMarkAttr,
        ReduceKindAttr,
        ScatterCombineAttr,
        ShapeAttr,
        SymbolAttr,
    ],
    [GraphConstants()],
)

"""
Semi-affine expressions of accesses: normal form, syntax, substitution.

xDSL's `AffineExpr` holds products with symbols (`d0 * s0`), but neither builds nor
parses them. Here an expression is a sum of products of *atoms* (a dim, a symbol, a
`floordiv` or a `mod`); equal sums are structurally equal expressions, so that equal
kernels are equal text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import AttrParser

Product = tuple[AffineExpr, ...]
"""The atoms of one product, in order; the empty product is the constant 1."""

Terms = dict[Product, int]
"""A sum: the coefficient of each product. No coefficient is 0."""

ExprLike = AffineExpr | int


def dim(position: int) -> AffineExpr:
    return AffineDimExpr(position)


def sym(position: int) -> AffineExpr:
    return AffineSymExpr(position)


def as_expr(value: ExprLike) -> AffineExpr:
    return AffineConstantExpr(value) if isinstance(value, int) else value


def _atom_key(atom: AffineExpr) -> tuple[int, int, str]:
    match atom:
        case AffineDimExpr(position):
            return (0, position, "")
        case AffineSymExpr(position):
            return (2, position, "")
        case _:
            return (1, 0, str(atom))


def _product_key(product: Product):
    return (not product, tuple(_atom_key(atom) for atom in product))


def _add_into(sum: Terms, other: Mapping[Product, int], factor: int = 1) -> Terms:
    for product, coefficient in other.items():
        total = sum.get(product, 0) + coefficient * factor
        if total:
            sum[product] = total
        else:
            sum.pop(product, None)
    return sum


def _multiply(lhs: Terms, rhs: Terms) -> Terms:
    sum: Terms = {}
    for a, m in lhs.items():
        for b, n in rhs.items():
            product = tuple(sorted(a + b, key=_atom_key))
            _add_into(sum, {product: m * n})
    return sum


def constant_value(expr: AffineExpr) -> int | None:
    """The value of an expression that is constant once it is normal."""
    terms = terms_of(expr)
    if not terms:
        return 0
    return terms[()] if tuple(terms) == ((),) else None


def _floordiv(lhs: Terms, rhs: AffineExpr) -> Terms:
    divisor = constant_value(rhs)
    if divisor is None or divisor <= 0:
        return _atom(AffineBinaryOpKind.FloorDiv, lhs, rhs)
    quotient: Terms = {}
    rest: Terms = {}
    for product, coefficient in lhs.items():
        # Multiples of the divisor leave the division; so does what exceeds it in
        # the constant.
        if coefficient % divisor == 0:
            quotient[product] = coefficient // divisor
        elif product == ():
            _add_into(quotient, {(): coefficient // divisor})
            rest[product] = coefficient % divisor
        else:
            rest[product] = coefficient
    if any(rest):
        _add_into(quotient, _atom(AffineBinaryOpKind.FloorDiv, rest, rhs))
    return quotient


def _mod(lhs: Terms, rhs: AffineExpr) -> Terms:
    divisor = constant_value(rhs)
    if divisor is None or divisor <= 0:
        return _atom(AffineBinaryOpKind.Mod, lhs, rhs)
    rest = {
        product: coefficient if product else coefficient % divisor
        for product, coefficient in lhs.items()
        if coefficient % divisor
    }
    return _atom(AffineBinaryOpKind.Mod, rest, rhs) if any(rest) else rest


def _atom(kind: AffineBinaryOpKind, lhs: Terms, rhs: AffineExpr) -> Terms:
    if not lhs:
        return {}
    return {(AffineBinaryOpExpr(kind, from_terms(lhs), normalize(rhs)),): 1}


def terms_of(expr: AffineExpr) -> Terms:
    """`expr` as a sum of products."""
    match expr:
        case AffineConstantExpr(value):
            return {(): value} if value else {}
        case AffineDimExpr() | AffineSymExpr():
            return {(expr,): 1}
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, lhs, rhs):
            return _add_into(terms_of(lhs), terms_of(rhs))
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, lhs, rhs):
            return _multiply(terms_of(lhs), terms_of(rhs))
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, lhs, rhs):
            return _floordiv(terms_of(lhs), rhs)
        case AffineBinaryOpExpr(AffineBinaryOpKind.CeilDiv, lhs, rhs):
            above = _add_into(_add_into(terms_of(lhs), terms_of(rhs)), {(): -1})
            return _floordiv(above, rhs)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, lhs, rhs):
            return _mod(terms_of(lhs), rhs)
        case _:
            raise AssertionError(f"affine expressions have no '{type(expr).__name__}'")


def from_terms(terms: Mapping[Product, int]) -> AffineExpr:
    """The normal expression of a sum of products."""
    sum: AffineExpr | None = None
    for product in sorted(terms, key=_product_key):
        coefficient = terms[product]
        factors = (*product, AffineConstantExpr(coefficient))
        if coefficient == 1 and product:
            factors = product
        value = factors[0]
        for factor in factors[1:]:
            value = AffineBinaryOpExpr(AffineBinaryOpKind.Mul, value, factor)
        sum = (
            value
            if sum is None
            else AffineBinaryOpExpr(AffineBinaryOpKind.Add, sum, value)
        )
    return AffineConstantExpr(0) if sum is None else sum


def normalize(expr: AffineExpr) -> AffineExpr:
    return from_terms(terms_of(expr))


def normalize_map(map: AffineMap) -> AffineMap:
    return AffineMap(map.num_dims, map.num_symbols, tuple(map_normal(map.results)))


def map_normal(exprs: Iterable[AffineExpr]) -> Iterable[AffineExpr]:
    return (normalize(expr) for expr in exprs)


def add(*values: ExprLike) -> AffineExpr:
    sum: Terms = {}
    for value in values:
        _add_into(sum, terms_of(as_expr(value)))
    return from_terms(sum)


def multiply(lhs: ExprLike, rhs: ExprLike) -> AffineExpr:
    """The product; unlike `lhs * rhs`, one with symbols too."""
    return from_terms(_multiply(terms_of(as_expr(lhs)), terms_of(as_expr(rhs))))


def floordiv(lhs: ExprLike, rhs: ExprLike) -> AffineExpr:
    return from_terms(_floordiv(terms_of(as_expr(lhs)), as_expr(rhs)))


def modulo(lhs: ExprLike, rhs: ExprLike) -> AffineExpr:
    return from_terms(_mod(terms_of(as_expr(lhs)), as_expr(rhs)))


def substitute(
    expr: AffineExpr,
    dims: Sequence[AffineExpr] = (),
    symbols: Sequence[AffineExpr] = (),
) -> AffineExpr:
    """
    `expr` with `dims[i]` for `di` and `symbols[i]` for `si`, normal.

    Positions past the end of a list stay what they are.
    """
    match expr:
        case AffineDimExpr(position) if position < len(dims):
            return normalize(dims[position])
        case AffineSymExpr(position) if position < len(symbols):
            return normalize(symbols[position])
        case AffineBinaryOpExpr(kind, lhs, rhs):
            lhs = substitute(lhs, dims, symbols)
            rhs = substitute(rhs, dims, symbols)
            return normalize(AffineBinaryOpExpr(kind, lhs, rhs))
        case _:
            return expr


def used_symbols(expr: AffineExpr) -> set[int]:
    return {e.position for e in expr.dfs() if isinstance(e, AffineSymExpr)}


def coefficient_of(expr: AffineExpr, position: int) -> AffineExpr | None:
    """
    What `expr` grows by when dim `position` grows by 1, if that is one expression
    without dims: 0 where the dim is not used, None where it stands in a `floordiv`
    or `mod`.
    """
    growth: Terms = {}
    for product, coefficient in terms_of(expr).items():
        if position not in {p for atom in product for p in atom.used_dims()}:
            continue
        if (atom := dim(position)) not in product:
            return None
        rest = tuple(factor for factor in product if factor != atom)
        if any(factor.used_dims() for factor in rest) or product.count(atom) > 1:
            return None
        _add_into(growth, {rest: coefficient})
    return from_terms(growth)


def divisors(expr: AffineExpr) -> list[AffineExpr]:
    """What the `floordiv` and `mod` of a normal expression divide by."""
    kinds = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)
    return [
        e.rhs
        for e in expr.dfs()
        if isinstance(e, AffineBinaryOpExpr) and e.kind in kinds
    ]


def why_illegal(expr: AffineExpr) -> str | None:
    """The rule of semi-affine expressions that `expr` breaks."""
    for product in terms_of(expr):
        if sum(1 for atom in product if atom.used_dims()) > 1:
            factors = " * ".join(_text_of_atom(atom) for atom in product)
            return f"expected at most one dim per product, but got '{factors}'"
        for atom in product:
            if not isinstance(atom, AffineBinaryOpExpr):
                continue
            if atom.rhs.used_dims():
                return f"expected a divisor without dims, but got '{text(atom.rhs)}'"
            divisor = constant_value(atom.rhs)
            if divisor is not None and divisor <= 0:
                return f"expected a positive divisor, but got {divisor}"
            if reason := why_illegal(atom.lhs):
                return reason
    return None


def _text_of_atom(atom: AffineExpr) -> str:
    match atom:
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return f"({_factor(lhs)} {kind.get_token()} {_factor(rhs)})"
        case _:
            return str(atom)


def _factor(expr: AffineExpr) -> str:
    simple = isinstance(expr, AffineDimExpr | AffineSymExpr) or (
        isinstance(expr, AffineConstantExpr) and expr.value >= 0
    )
    return text(expr) if simple else f"({text(expr)})"


def text(expr: AffineExpr) -> str:
    """`expr` with few parentheses, as `parse_expr` reads it: `d0 * 2 + s0 - 1`."""
    terms = terms_of(expr)
    if not terms:
        return "0"
    parts: list[str] = []
    for product in sorted(terms, key=_product_key):
        coefficient = terms[product]
        sign = "-" if coefficient < 0 else "+"
        factors = [_text_of_atom(atom) for atom in product]
        if abs(coefficient) != 1 or not product:
            factors.append(str(abs(coefficient)))
        value = " * ".join(factors)
        if coefficient == 1 and len(factors) == 1 and value.startswith("("):
            value = value[1:-1]
        if parts:
            parts.append(f" {sign} {value}")
        else:
            parts.append(value if sign == "+" else f"-{value}")
    return "".join(parts)


def parse_expr(parser: AttrParser, num_dims: int, num_symbols: int) -> AffineExpr:
    """
    ```
    expr   ::= term ((`+` | `-`) term)*
    term   ::= factor ((`*` | `floordiv` | `ceildiv` | `mod`) factor)*
    factor ::= `-` factor | `(` expr `)` | integer | `d`N | `s`N
    ```
    """
    sum = _parse_term(parser, num_dims, num_symbols)
    while True:
        if parser.parse_optional_punctuation("+"):
            sum = add(sum, _parse_term(parser, num_dims, num_symbols))
        elif parser.parse_optional_punctuation("-"):
            sum = add(sum, multiply(_parse_term(parser, num_dims, num_symbols), -1))
        else:
            return sum


_WORDS = {
    "floordiv": AffineBinaryOpKind.FloorDiv,
    "ceildiv": AffineBinaryOpKind.CeilDiv,
    "mod": AffineBinaryOpKind.Mod,
}


def _parse_term(parser: AttrParser, num_dims: int, num_symbols: int) -> AffineExpr:
    value = _parse_factor(parser, num_dims, num_symbols)
    while True:
        if parser.parse_optional_punctuation("*"):
            kind = AffineBinaryOpKind.Mul
        elif word := parser.parse_optional_keyword_in(_WORDS):
            kind = _WORDS[word]
        else:
            return value
        rhs = _parse_factor(parser, num_dims, num_symbols)
        value = normalize(AffineBinaryOpExpr(kind, value, rhs))


def _parse_factor(parser: AttrParser, num_dims: int, num_symbols: int) -> AffineExpr:
    if parser.parse_optional_punctuation("-"):
        return multiply(_parse_factor(parser, num_dims, num_symbols), -1)
    if parser.parse_optional_punctuation("("):
        expr = parse_expr(parser, num_dims, num_symbols)
        parser.parse_punctuation(")")
        return expr
    if (value := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return AffineConstantExpr(value)
    pos = parser.pos
    name = parser.parse_optional_identifier() or ""
    letter, digits = name[:1], name[1:]
    count = {"d": num_dims, "s": num_symbols}.get(letter)
    if count is None or not (digits.isascii() and digits.isdigit()):
        parser.raise_error(
            "expected a dim such as 'd0', a symbol such as 's0', an integer or '('",
            pos,
            parser.pos,
        )
    if int(digits) >= count:
        what = "dims" if letter == "d" else "symbols"
        parser.raise_error(
            f"unknown '{name}'; there are {count} {what}", pos, parser.pos
        )
    return dim(int(digits)) if letter == "d" else sym(int(digits))

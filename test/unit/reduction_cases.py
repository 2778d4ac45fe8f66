"""
Large modules in which something goes wrong, for tests of reduction.
"""

from random import Random


def scalar_program(count: int, seed: int) -> str:
    """
    Functions of `count` ops on integers, with loops and branches between; one of them
    is `math.ipowi`, for which LLVM has no form.
    """
    random = Random(seed)
    planted = random.randrange(count // 3, count)
    per_function = max(count // 4, 1)
    lines: list[str] = []
    done = 0
    while done < count:
        name = "main" if not lines else f"f{done}"
        lines.append(
            f"func.func @{name}(%x: i32, %y: i32, %c: i1, %n: index) -> (i32, i32) {{"
        )
        values = ["%x", "%y"]
        for index in range(done, min(done + per_function, count)):
            one, other = random.choice(values), random.choice(values)
            values.append(f"%v{index}")
            lines.append(f"  {values[-1]} = {_op(index, planted, one, other)}")
        done += per_function
        lines.append(f"  func.return {values[-1]}, {values[-2]} : i32, i32\n}}")
    return "\n".join(lines) + "\n"


def _op(index: int, planted: int, one: str, other: str) -> str:
    if index == planted:
        return f"math.ipowi {one}, {other} : i32"
    if index % 10 == 3:
        return (
            f"scf.if %c -> (i32) {{ %t{index} = arith.muli {one}, {other} : i32 "
            f"scf.yield %t{index} : i32 }} else {{ scf.yield {other} : i32 }}"
        )
    if index % 10 == 7:
        return (
            f"scf.for %i{index} = %n to %n step %n iter_args(%a{index} = {one}) -> "
            f"(i32) {{ %b{index} = arith.addi %a{index}, {other} : i32 "
            f"scf.yield %b{index} : i32 }}"
        )
    return f"arith.addi {one}, {other} : i32"

"""
What the command lines of several programs have in common.
"""

import argparse
import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp

from transom.compile_options import use_options, use_threads
from transom.dialects.diagnostics import did_you_mean
from transom.passes.pipeline import PipelineError
from transom.tools.bugs import TRACEBACK, TRACEBACK_HELP
from transom.tools.memory_limit import size_of
from transom.tools.option_owners import owners_of

Add = Callable[..., argparse.Action]
"""`add_argument` of a parser or of a group."""


LISTED = "; '--help' lists them"
"""What else there is to be said of an unknown option."""


def refuse(message: str) -> NoReturn:
    """What a parser shall do as its `error`: the programs write all errors alike."""
    rest = message.removeprefix("unrecognized arguments: ")
    if rest == message:
        raise PipelineError(message)
    word = rest.split()[0]
    if word.startswith("-"):
        raise PipelineError(f"unknown option '{word}'{LISTED}")
    raise PipelineError(f"unexpected argument '{word}'")


def recorded(add: Add, actions: list[argparse.Action]) -> Add:
    """`add`, which also notes what it adds."""

    def add_and_note(*args: Any, **kwargs: Any) -> argparse.Action:
        action = add(*args, **kwargs)
        actions.append(action)
        return action

    return add_and_note


def flags_of(actions: Iterable[argparse.Action]) -> tuple[str, ...]:
    """All flags of a command line, also those of argparse."""
    return ("-h", "--help", *(flag for a in actions for flag in a.option_strings))


class ProgramParser(argparse.ArgumentParser):
    """The command line of a program. Raises `PipelineError` for a wrong one."""

    def __init__(self, prog: str, description: str, **kwargs: Any) -> None:
        super().__init__(prog, description=description, **kwargs)
        self.allow_abbrev = False

    @property
    def flags(self) -> Collection[str]:
        """All options, those of groups too."""
        return self._option_string_actions

    def error(self, message: str) -> NoReturn:
        refuse(message)

    def parse_words(self, words: Sequence[str]) -> argparse.Namespace:
        """What a command line says."""
        self.check(words, self.flags)
        return self.parse_args(words)

    def check(self, words: Sequence[str], known: Collection[str]) -> None:
        """Raise `PipelineError` for an option among some words that is not known."""
        for word in itertools.takewhile(lambda word: word != "--", words):
            check_option(word, known, self.prog)


def check_option(word: str, known: Collection[str], program: str) -> None:
    """
    Raise `PipelineError` for a word that has the form of an option and is none of a
    program.
    """
    option = word.partition("=")[0]
    if not option.startswith("--") or option == "--" or option in known:
        return
    owners = [f"'{name}'" for name in owners_of(option, program)]
    if owners:
        has = "has" if len(owners) == 1 else "have"
        raise PipelineError(
            f"unknown option '{option}'; {' and '.join(owners)} {has} it"
        )
    near = did_you_mean(option[2:], (n[2:] for n in known if n.startswith("--")))
    near = near.replace(" '", " '--") or LISTED
    raise PipelineError(f"unknown option '{option}'{near}")


def one_of(kind: str, names: Iterable[str]) -> Callable[[str], str]:
    """The type of an argument that is one of some names, of a kind."""

    def checked(text: str) -> str:
        if text not in names:
            near = did_you_mean(text, names)
            raise argparse.ArgumentTypeError(f"unknown {kind} '{text}'{near}")
        return text

    return checked


def add_choices(add: Add) -> None:
    """Add the flags that say what kernels are made for; see `use_choices`."""
    add(
        "--threads",
        type=int,
        metavar="N",
        help="how many threads a kernel may use (default: what the module says, or 1)",
    )
    add(
        "--winograd",
        action="store_true",
        help="let convolutions of 3 by 3 take fewer multiplications and round "
        "differently",
    )


def use_choices(module: ModuleOp, args: argparse.Namespace) -> None:
    """Write into a module what the command line says of threads and options."""
    if args.threads is not None:
        use_threads(module, args.threads)
    if args.winograd:
        use_options(module, {"winograd": True})


def add_data_folders(add: Add) -> None:
    """Add the flag that lets weights lie elsewhere."""
    add(
        "--allow-external-data-dir",
        dest="data_folders",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder that links to models and their weights may lead to",
    )


def add_devices(add: Add) -> None:
    """Add the flag that declares devices."""
    add(
        "--device",
        dest="devices",
        metavar="NAME=TARGETS",
        action="append",
        default=[],
        help="declare a device: 'cpu=#llvm_cpu.target<cpu = \"host\">', with several "
        "targets 'soc=[…, …]', with memories 'npu={targets = […], memories = [@dram]}'",
    )


def _words(text: str) -> list[str]:
    return text.split(",")


def add_in_pools(add: Add) -> None:
    """Add the flag that says what is in pools beside the buffers of main."""
    add(
        "--in-pools",
        metavar="WHAT,…",
        type=_words,
        default=[],
        help="what is in pools of the memory plan too: inputs, outputs, constants",
    )


def add_memory_limit(add: Add) -> None:
    """Add the flag that bounds the memory of the process."""
    add(
        "--memory-limit",
        metavar="SIZE",
        type=_size,
        help="end in an error above so much memory, such as 512M or 4G",
    )


def add_traceback(add: Add) -> None:
    """Add the flag that shows where an exception comes from."""
    add(TRACEBACK, action="store_true", help=TRACEBACK_HELP)


def add_error_format(add: Add) -> None:
    """Add the flag that says how errors are written."""
    add(
        "--error-format",
        metavar="FORMAT",
        type=one_of("format", ("text", "json")),
        default="text",
        help="write errors as text (default) or as json, an object a line",
    )


def error_format(args: Sequence[str]) -> str:
    """The format of errors, for those about the command line itself."""
    words = " ".join(args).replace("--error-format=", "--error-format ").split()
    return "json" if ("--error-format", "json") in pairwise(words) else "text"


def _size(text: str) -> int:
    try:
        return size_of(text)
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from None

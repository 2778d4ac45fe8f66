"""
What takes part in a comparison: a way to compile a model, and to run it.
"""

import importlib.metadata
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.cases import Array, Case


class Candidate(ABC):
    """A model that is ready to run."""

    outputs: Mapping[str, Array]
    """Where `run` writes to; nothing, if it cannot be told."""

    packages: ClassVar[tuple[str, ...]]
    """The distributions that it needs; the first is the one whose version counts."""

    module: ClassVar[str]
    """What is imported."""

    @classmethod
    def version(cls) -> str | None:
        """The installed version, if all is installed. Imports nothing."""
        if importlib.util.find_spec(cls.module) is None:
            return None
        try:
            version, *_ = map(importlib.metadata.version, cls.packages)
        except importlib.metadata.PackageNotFoundError:
            return None
        return version

    @abstractmethod
    def __init__(
        self, case: Case, model: Path, inputs: Mapping[str, Array], threads: int
    ) -> None:
        """Compile a model. Raises `Unable` if the candidate has no way to run it."""

    @abstractmethod
    def run(self) -> None:
        """Compute the outputs once."""

    def results(self) -> Mapping[str, Array]:
        """What `run` has computed last."""
        return self.outputs

    @staticmethod
    @abstractmethod
    def compile(case: Case, model: Path, threads: int) -> Any:
        """
        What has to be done once for a model, beside which files may be left. Raises
        `Unable`, if that is nothing.
        """


class Unable(Exception):
    """A candidate does not take part in a case."""


class CompileError(Exception):
    """A candidate cannot compile a model."""

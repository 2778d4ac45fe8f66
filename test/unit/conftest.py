"""
Tests keep nothing on disk but where they say so, and leave little to look through.
"""

import gc
import os
from collections.abc import Generator

import pytest

os.environ["TRANSOM_CACHE"] = "memory"


@pytest.fixture(autouse=True, scope="module")
def search_for_garbage_once() -> Generator[None]:
    """
    Python looks through all that is there again and again, and a process of tests
    keeps much: what a file of tests leaves is not looked at any more.
    """
    yield
    gc.collect()
    gc.freeze()

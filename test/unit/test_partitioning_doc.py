"""
The page about partitioning: its links lead somewhere, its options exist, and its table
of costs is one.
"""

import dataclasses
import re
from pathlib import Path

from transom.targets.cost_tables import Key, read_table
from transom.targets.graph_search_partition import GraphSearchPartitionPass

PAGE = Path(__file__).parents[2] / "docs" / "partitioning.md"
TEXT = PAGE.read_text()


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", TEXT):
        assert (PAGE.parent / target).exists(), target


def test_all_options_are_told() -> None:
    told = set(re.findall(r"^\| `(\w+)", TEXT, re.MULTILINE))
    fields = {field.name for field in dataclasses.fields(GraphSearchPartitionPass)}
    assert fields <= told


def test_the_table_of_costs(tmp_path: Path) -> None:
    found = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    path = tmp_path / "costs.json"
    path.write_text(found[1])
    types = "(tensor<4xf32>) -> (tensor<4xf32>)"
    table = read_table(str(path))
    assert table.seconds(Key("#toy_npu.target", "graph.relu", types)) == 1e-6

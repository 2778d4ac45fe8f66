"""Weights read from safetensors and ONNX files, and what is refused."""

import json
import os
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from safetensors import numpy as safetensors_numpy

from transom.dialects.weight_files import WeightError, WeightFiles, content_sha256

F32 = np.dtype(np.float32)
W = np.arange(6, dtype=F32).reshape(2, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = tmp_path / "base"
    base.mkdir()
    save_file({"w": W, "v": np.array([1, -2], np.int64)}, base / "m.safetensors")
    return base


def save_file(tensors: dict[str, Any], path: Path):
    path.write_bytes(safetensors_numpy.save(tensors))


def refused(message: str) -> Any:
    return pytest.raises(WeightError, match=f"^{re.escape(message)}$")


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def tensor(name: str, array: np.ndarray[Any, Any], raw: bool) -> TensorProto:
    if raw:
        return numpy_helper.from_array(array, name)
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor(name, kind, array.shape, array.reshape(-1))


def save_onnx(path: Path, *initializers: TensorProto, nodes: Any = ()):
    graph = helper.make_graph(nodes, "g", [], [], initializers)
    path.write_bytes(helper.make_model(graph).SerializeToString())


def external(location: str, **entries: str) -> TensorProto:
    t = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3])
    t.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        t.external_data.add(key=key, value=value)
    return t


def test_safetensors(folder: Path):
    files = WeightFiles(folder)
    w = files.read("m.safetensors", "w", (2, 3), F32)
    assert w.dtype == F32
    np.testing.assert_array_equal(w, W)
    v = files.read("m.safetensors", "v", (2,), np.dtype(np.int64))
    assert v.tolist() == [1, -2]


def test_safetensors_is_not_copied(folder: Path):
    w = WeightFiles(folder).read("m.safetensors", "w", (2, 3), F32)
    assert not w.flags.writeable and not w.flags.owndata
    root: Any = w
    while hasattr(root.base, "base"):
        root = root.base
    assert isinstance(root, np.memmap)


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u2", "i4", "u8", "f2", "f8", ml_dtypes.bfloat16]
)
def test_dtypes(folder: Path, dtype: Any):
    w = np.array([0, 1, 1, 0], dtype)
    save_file({"w": w}, folder / "d.safetensors")
    save_onnx(folder / "raw.onnx", tensor("w", w, raw=True))
    save_onnx(folder / "typed.onnx", tensor("w", w, raw=False))
    for path in ("d.safetensors", "raw.onnx", "typed.onnx"):
        read = WeightFiles(folder).read(path, "w", (4,), w.dtype)
        assert read.dtype == w.dtype and read.tolist() == w.tolist()


def test_unaligned_elements_stay_in_the_file(folder: Path):
    header = {"w": {"dtype": "F32", "shape": [1], "data_offsets": [1, 5]}}
    text = json.dumps(header).encode().ljust(72)
    data = b"\0" + np.float32(2.5).tobytes()
    (folder / "u.safetensors").write_bytes(safetensors(text, data))
    w = WeightFiles(folder).read("u.safetensors", "w", (1,), F32)
    assert not w.flags.aligned and w.tolist() == [2.5]


def test_empty_and_scalar(folder: Path):
    save_file(
        {"e": np.empty((0, 3), F32), "s": np.array(2.0, F32)}, folder / "e.safetensors"
    )
    files = WeightFiles(folder)
    assert files.read("e.safetensors", "e", (0, 3), F32).shape == (0, 3)
    assert files.read("e.safetensors", "s", (), F32).tolist() == 2.0


def test_sha256(folder: Path):
    files = WeightFiles(folder)
    digest = content_sha256(W)
    files.read("m.safetensors", "w", (2, 3), F32, digest.upper())
    with refused(
        f"weight 'w' in 'm.safetensors': expected sha256 {'0' * 64}, "
        f"but it has {digest}"
    ):
        files.read("m.safetensors", "w", (2, 3), F32, "0" * 64)


def test_sha256_is_that_of_the_contents():
    assert content_sha256(W) == content_sha256(W.T.copy().T)
    assert content_sha256(W) == content_sha256(W.astype(">f4"))
    assert content_sha256(W) != content_sha256(-W)


def test_sha256_is_checked_again_when_the_file_changes(folder: Path):
    files, digest = WeightFiles(folder), content_sha256(W)
    save_onnx(folder / "m.onnx", external("w.bin"))
    (folder / "w.bin").write_bytes(W.tobytes())
    files.read("m.onnx", "w", (2, 3), F32, digest)
    (folder / "w.new").write_bytes((-W).tobytes())
    (folder / "w.new").replace(folder / "w.bin")
    with pytest.raises(WeightError, match="expected sha256"):
        files.read("m.onnx", "w", (2, 3), F32, digest)


def test_other_type(folder: Path):
    files = WeightFiles(folder)
    label = "weight 'w' in 'm.safetensors'"
    with refused(f"{label}: expected '3x2xfloat32', but the file has '2x3xfloat32'"):
        files.read("m.safetensors", "w", (3, 2), F32)
    with refused(f"{label}: expected '2x3xfloat16', but the file has '2x3xfloat32'"):
        files.read("m.safetensors", "w", (2, 3), np.dtype(np.float16))
    header = {"w": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}
    (folder / "q.safetensors").write_bytes(safetensors(header, b"\0\0"))
    with refused(
        "weight 'w' in 'q.safetensors': expected '2xint8', but the file has '2xF8_E4M3'"
    ):
        files.read("q.safetensors", "w", (2,), np.dtype(np.int8))


def test_unknown_name(folder: Path):
    with refused("'m.safetensors' has no weight 'x'; expected one of 'v', 'w'"):
        WeightFiles(folder).read("m.safetensors", "x", (2, 3), F32)


def test_missing_file(folder: Path):
    with refused("cannot read 'n.safetensors': No such file or directory"):
        WeightFiles(folder).read("n.safetensors", "w", (2, 3), F32)


@pytest.mark.parametrize("path", ["/etc/passwd", "", "a\0b", "C:\\x", "//host/x"])
def test_path_is_relative(folder: Path, path: str):
    with pytest.raises(WeightError, match=r"^expected a relative path, but got '"):
        WeightFiles(folder).open(path)


@pytest.mark.parametrize("path", ["../m", "a/../../m", "..", "a\\..\\m"])
def test_path_has_no_parent(folder: Path, path: str):
    with refused(
        f"expected a path without '..', but got '{path}'; or allow the folder that it "
        "leads to ('--allow-external-data-dir')"
    ):
        WeightFiles(folder).open(path)


def test_a_parent_that_is_allowed(folder: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    (folder / "other").mkdir()
    (folder / "other" / "m").write_bytes(b"x")
    file = WeightFiles(inner, [folder / "other"]).open("../other/m")
    assert file.data.tobytes() == b"x"
    with refused(
        "expected a path without '..', but got '../m'; or allow the folder that it "
        "leads to ('--allow-external-data-dir')"
    ):
        WeightFiles(inner, [folder / "other"]).open("../m")


def test_links_that_leave(folder: Path):
    outside = folder.parent / "outside"
    outside.mkdir()
    save_file({"w": W}, outside / "x.safetensors")
    (folder / "link.safetensors").symlink_to(outside / "x.safetensors")
    (folder / "sub").symlink_to(outside)
    for path in ("link.safetensors", "sub/x.safetensors"):
        with refused(
            f"'{path}' is a link that leaves its folder; "
            "allow the folder that it leads to ('--allow-external-data-dir')"
        ):
            WeightFiles(folder).read(path, "w", (2, 3), F32)
        allowed = WeightFiles(folder, allowed=[outside])
        assert allowed.read(path, "w", (2, 3), F32).tolist() == W.tolist()


def test_links_inside(folder: Path):
    (folder / "l.safetensors").symlink_to("m.safetensors")
    read = WeightFiles(folder).read("l.safetensors", "w", (2, 3), F32)
    assert read.tolist() == W.tolist()


def test_hard_links(folder: Path):
    os.link(folder / "m.safetensors", folder.parent / "other")
    with refused("'m.safetensors' has several hard links; allow its folder"):
        WeightFiles(folder).read("m.safetensors", "w", (2, 3), F32)
    for allowed in (folder, folder / "m.safetensors"):
        files = WeightFiles(folder, allowed=[allowed])
        assert files.read("m.safetensors", "w", (2, 3), F32).tolist() == W.tolist()


def test_a_file_is_opened_once_while_it_is_as_it_was(folder: Path):
    files = WeightFiles(folder)
    first = files.open("m.safetensors")
    assert files.open("m.safetensors") is first
    save_file({"w": 2 * W}, folder / "new")
    os.replace(folder / "new", folder / "m.safetensors")
    assert files.read("m.safetensors", "w", (2, 3), F32).tolist() == (2 * W).tolist()
    (folder / "m.safetensors").unlink()
    with refused("cannot read 'm.safetensors': No such file or directory"):
        files.open("m.safetensors")


def test_not_a_file(folder: Path):
    (folder / "d").mkdir()
    os.mkfifo(folder / "f")
    for path in ("d", "f"):
        with refused(f"cannot read '{path}': not a regular file"):
            WeightFiles(folder).open(path)


HEADERS: list[tuple[bytes, str]] = [
    (b"", "expected at least 8 bytes"),
    (
        (1 << 40).to_bytes(8, "little"),
        f"its header of {1 << 40} bytes exceeds the file",
    ),
    (safetensors(b"{"), "its header is not JSON"),
    (safetensors(b"[" * 100000), "its header is not JSON"),
    (safetensors([]), "its header is not a JSON object"),
]


@pytest.mark.parametrize(("content", "message"), HEADERS)
def test_broken_safetensors(folder: Path, content: bytes, message: str):
    (folder / "b.safetensors").write_bytes(content)
    with refused(f"'b.safetensors' is not a safetensors file: {message}"):
        WeightFiles(folder).read("b.safetensors", "w", (2, 3), F32)


@pytest.mark.parametrize(
    "entry",
    [
        3,
        {"dtype": "F32", "shape": [2, 3]},
        {"dtype": "F32", "shape": [2, -3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, True]},
    ],
)
def test_broken_entry(folder: Path, entry: object):
    (folder / "b.safetensors").write_bytes(safetensors({"w": entry}, bytes(24)))
    with refused(
        "weight 'w' in 'b.safetensors': expected 'dtype', 'shape' and two "
        "'data_offsets'"
    ):
        WeightFiles(folder).read("b.safetensors", "w", (2, 3), F32)


def test_offsets_outside_the_file(folder: Path):
    shape = [1 << 20, 1 << 20]
    header = {
        "w": {"dtype": "F32", "shape": shape, "data_offsets": [0, 1 << 42]},
        "s": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
    }
    content = safetensors(header, bytes(8))
    (folder / "b.safetensors").write_bytes(content)
    start = len(content) - 8
    with refused(
        f"weight 'w' in 'b.safetensors': bytes {start} to {start + (1 << 42)} lie "
        f"outside the {len(content)} bytes of 'b.safetensors'"
    ):
        WeightFiles(folder).read("b.safetensors", "w", shape, F32)
    with refused("weight 's' in 'b.safetensors': expected 8 bytes, but got 4"):
        WeightFiles(folder).read("b.safetensors", "s", (2,), F32)


def test_bool_bytes(folder: Path):
    header = {"w": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}}
    (folder / "b.safetensors").write_bytes(safetensors(header, b"\1\2"))
    with refused("weight 'w' in 'b.safetensors': expected bytes of 0 and 1 for bool"):
        WeightFiles(folder).read("b.safetensors", "w", (2,), np.dtype(bool))


def test_onnx_constant_node(folder: Path):
    node = helper.make_node("Constant", [], ["c"], value=tensor("", W, raw=True))
    save_onnx(folder / "m.onnx", nodes=[node])
    read = WeightFiles(folder).read("m.onnx", "c", (2, 3), F32)
    assert read.tolist() == W.tolist()


def test_onnx_external_data(folder: Path):
    (folder / "sub").mkdir()
    (folder / "sub" / "w.bin").write_bytes(bytes(8) + W.tobytes())
    save_onnx(folder / "sub" / "m.onnx", external("w.bin", offset="8", length="24"))
    read = WeightFiles(folder).read("sub/m.onnx", "w", (2, 3), F32)
    assert read.tolist() == W.tolist() and not read.flags.owndata


@pytest.mark.parametrize(
    ("initializer", "message"),
    [
        (external("no.bin"), "cannot read 'no.bin': No such file or directory"),
        (
            external("../up.bin"),
            "expected a path without '..', but got '../up.bin'; or allow the folder "
            "that it leads to ('--allow-external-data-dir')",
        ),
        (external("/etc/passwd"), "expected a relative path, but got '/etc/passwd'"),
    ],
)
def test_onnx_external_paths(folder: Path, initializer: TensorProto, message: str):
    (folder.parent / "up.bin").write_bytes(W.tobytes())
    save_onnx(folder / "m.onnx", initializer)
    with refused(f"weight 'w' in 'm.onnx': external data: {message}"):
        WeightFiles(folder).read("m.onnx", "w", (2, 3), F32)


def test_onnx_external_data_stays_in_the_folder_of_the_model(folder: Path):
    (folder / "sub").mkdir()
    (folder / "w.bin").write_bytes(W.tobytes())
    (folder / "sub" / "w.bin").symlink_to(folder / "w.bin")
    save_onnx(folder / "sub" / "m.onnx", external("w.bin"))
    with pytest.raises(WeightError, match="is a link that leaves its folder"):
        WeightFiles(folder).read("sub/m.onnx", "w", (2, 3), F32)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"offset": "4"}, "bytes 4 to 28 lie outside the 24 bytes of 'w.bin'"),
        ({"length": "20"}, "expected 24 bytes, but got 20"),
        ({"offset": "-4"}, "expected a number of bytes as offset of its external data"),
        (
            {"length": "9" * 30},
            "expected a number of bytes as length of its external data",
        ),
    ],
)
def test_onnx_external_spans(folder: Path, entries: dict[str, str], message: str):
    (folder / "w.bin").write_bytes(W.tobytes())
    save_onnx(folder / "m.onnx", external("w.bin", **entries))
    with refused(f"weight 'w' in 'm.onnx': {message}"):
        WeightFiles(folder).read("m.onnx", "w", (2, 3), F32)


def test_onnx_external_data_without_location(folder: Path):
    broken = external("w.bin")
    del broken.external_data[:]
    save_onnx(folder / "m.onnx", broken)
    with refused("weight 'w' in 'm.onnx': its external data has no location"):
        WeightFiles(folder).read("m.onnx", "w", (2, 3), F32)


def test_onnx_wrong_number_of_elements(folder: Path):
    raw, typed = tensor("w", W, raw=True), tensor("v", W, raw=False)
    raw.dims[:] = typed.dims[:] = [1 << 30, 1 << 30]
    save_onnx(folder / "m.onnx", raw, typed)
    files = WeightFiles(folder)
    with refused(f"weight 'w' in 'm.onnx': expected {1 << 62} bytes, but got 24"):
        files.read("m.onnx", "w", (1 << 30, 1 << 30), F32)
    with refused(f"weight 'v' in 'm.onnx': expected {1 << 60} elements, but got 6"):
        files.read("m.onnx", "v", (1 << 30, 1 << 30), F32)


def test_absurd_sizes(folder: Path):
    broken = tensor("w", W, raw=True)
    broken.dims[:] = [1 << 50, 1]
    save_onnx(folder / "m.onnx", broken)
    with refused("weight 'w' in 'm.onnx': expected at most 32 sizes of 0 to 2^48"):
        WeightFiles(folder).read("m.onnx", "w", (1 << 50, 1), F32)


def test_not_a_model(folder: Path):
    (folder / "m.onnx").write_bytes(b"\xff" * 10)
    with refused("'m.onnx' is not an ONNX model: it ends inside a number"):
        WeightFiles(folder).read("m.onnx", "w", (2, 3), F32)


def test_unknown_onnx_type(folder: Path):
    broken = tensor("w", W, raw=True)
    broken.data_type = 99
    save_onnx(folder / "m.onnx", broken)
    with refused(
        "weight 'w' in 'm.onnx': expected '2x3xfloat32', but the file has '2x3x99'"
    ):
        WeightFiles(folder).read("m.onnx", "w", (2, 3), F32)

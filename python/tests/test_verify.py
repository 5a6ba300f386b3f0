"""Files against lists of checksums and bags."""

from __future__ import annotations

import hashlib

import pytest

import trunkline as tl


@pytest.fixture
def run7(tmp_path):
    """A list of two files, and the folder that they are in."""
    folder = tmp_path / "run7"
    folder.mkdir()
    lines = []
    for name, content in [("a", b"one"), ("b c", b"two")]:
        (folder / name).write_bytes(content)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
    listed = tmp_path / "SHA256SUMS"
    listed.write_text("".join(lines))
    return listed, folder


def test_files_that_are_right_are_counted(run7):
    verified = tl.verify(*run7)
    assert (verified.right, verified.wrong, verified.unchecked) == (2, 0, 0)
    assert verified.bytes == 6
    assert verified.algorithms == ["sha256"]
    assert verified.troubles == []


@pytest.mark.each_python
def test_what_is_not_right_is_in_the_mismatch(run7):
    listed, folder = run7
    (folder / "a").write_bytes(b"ono")
    (folder / "b c").unlink()
    seen = []
    with pytest.raises(tl.Mismatch) as caught:
        tl.verify(listed, folder, on_progress=seen.append)
    partial = caught.value.partial
    found = [(one["kind"], one["name"], one["line"]) for one in partial.troubles]
    assert found == [("differs", "a", 1), ("missing", "b c", 2)]
    assert (partial.right, partial.wrong) == (0, 2)
    assert "2 are not as it says" in str(caught.value)
    assert {one.name for one in seen if one.kind == "trouble"} == {"a", "b c"}


def test_what_could_not_be_checked_is_a_mismatch_that_is_not_wrong(run7):
    listed, folder = run7
    listed.write_text(listed.read_text() + "no line of a list\n")
    with pytest.raises(tl.Mismatch) as caught:
        tl.verify(listed, folder)
    partial = caught.value.partial
    assert [one["kind"] for one in partial.troubles] == ["improper"]
    assert (partial.right, partial.wrong, partial.unchecked) == (2, 0, 1)


def test_a_request_that_cannot_be_is_refused(run7, tmp_path):
    listed, folder = run7
    with pytest.raises(tl.RequestError, match="nowhere"):
        tl.verify(tmp_path / "nowhere")
    with pytest.raises(tl.RequestError, match="no folder"):
        tl.verify(listed, folder / "a")
    with pytest.raises(tl.RequestError, match="algorithm"):
        tl.verify(listed, folder, algorithm="sha3")
    # A folder that is no bag.
    with pytest.raises(tl.RequestError, match=r"bagit\.txt"):
        tl.verify(folder)

"""Pipes to and from a server on this host, and to programs behind a script that takes ssh's place."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest
import trunkline as tl

pytestmark = pytest.mark.each_python


@pytest.fixture
def ssh(tmp_path: Path, program: str) -> str:
    script = tmp_path / "ssh"
    script.write_text(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then echo 'hostname 127.0.0.1'; exit; fi\nfor last; do :; done\n"
        f"export SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22'\ncd {tmp_path}\nexec sh -c \"$last\"\n"
    )
    script.chmod(0o700)
    return str(script)


@pytest.fixture
def asked(ssh: str, program: str) -> dict[str, str]:
    return {"ssh": ssh, "far_program": program}


def test_what_is_written_comes_back(tmp_path: Path, asked: dict[str, str]) -> None:
    data = os.urandom(5_000_000)
    with tl.open_pipe("h:file", "wb", **asked) as stream:
        assert stream.writable() and not stream.readable()
        stream.write(data[:1])
        stream.write(memoryview(data)[1:])
        assert not (tmp_path / "file").exists()
    assert (tmp_path / "file").read_bytes() == data
    assert stream.outcome is not None and stream.outcome.bytes == len(data)
    with tl.open_pipe("h:file", **asked) as stream:
        assert stream.read() == data


def test_a_block_that_fails_leaves_nothing(tmp_path: Path, asked: dict[str, str]) -> None:
    takes = ["sh", "-c", "cat > part && mv part whole"]
    for place, program in (("h:file", None), ("h", takes)):
        stream = tl.open_pipe(place, "wb", program=program, **asked)
        with pytest.raises(ZeroDivisionError), stream:
            stream.write(b"half")
            raise ZeroDivisionError
        assert stream.closed
    dropped = tl.open_pipe("h:file", "wb", **asked)
    dropped.write(b"half")
    del dropped
    assert not (tmp_path / "file").exists() and not (tmp_path / "whole").exists()


def test_programs_and_their_codes(asked: dict[str, str]) -> None:
    with tl.open_pipe("h", "rb", program=["printf", "%s", "a b"], **asked) as stream:
        assert stream.read() == b"a b"
    stream = tl.open_pipe("h", "wb", program=["sh", "-c", "cat > /dev/null; exit 3"], **asked)
    stream.write(b"x")
    with pytest.raises(tl.RunError, match="exit code 3"):
        stream.finish()


def test_an_archive_through_a_pipe(tmp_path: Path, asked: dict[str, str]) -> None:
    (tmp_path / "a").write_text("content")
    with (
        tl.open_pipe("h:x.tar", "wb", **asked) as stream,
        tarfile.open(fileobj=stream, mode="w|") as archive,
    ):
        archive.add(tmp_path / "a", "a")
    with tarfile.open(tmp_path / "x.tar") as archive:
        assert archive.getnames() == ["a"]


def test_what_cannot_be_is_refused(asked: dict[str, str]) -> None:
    with pytest.raises(tl.RequestError, match="is on this host"):
        tl.open_pipe("file", "wb", **asked)
    with pytest.raises(tl.RequestError, match="rb, wb"):
        tl.open_pipe("h:file", "r+", **asked)  # type: ignore[arg-type]
    stream = tl.open_pipe("h:nothing", **asked)
    with pytest.raises(tl.RequestError, match="nothing"):
        stream.read()
    with pytest.raises(OSError):
        stream.write(b"x")

"""Copies with a server in this process, and what may go wrong."""

from __future__ import annotations

import errno
import fcntl
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time

import fsspec
import pytest

import trunkline as tl


@pytest.fixture
def store(tmp_path):
    """A folder that is served, its tokens file and a token for it."""
    root = tmp_path / "store"
    root.mkdir()
    tokens = tmp_path / "tokens"
    return root, tokens, tl.add_token(tokens, "ana")


def made(folder, sizes):
    folder.mkdir(parents=True)
    draw = random.Random(7)
    for number, size in enumerate(sizes):
        (folder / f"{number:03}.bin").write_bytes(draw.randbytes(size))
    return folder


def contents(folder):
    return {
        str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()
    }


def test_lists_of_checksums_hold_at_the_other_end(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [0, 70_000])
    sums, seen = tmp_path / "SUMS.sha256", []
    with tl.serve(root=root, tokens=tokens) as server:
        put = tl.copy(
            source, server.place(), token=token, recursive=True, atimes=True,
            digest={"sha256": sums}, max_rate="08:00=800M,18:00=none", on_progress=seen.append,
        )
    told = [one.message.split() for one in seen if one.kind == "checksum"]
    listed = [line.split()[0] for line in sums.read_text().splitlines()]
    assert sorted(told) == sorted(["sha256", digest] for digest in listed)
    assert tl.verify(sums, root).right == 2
    assert put.document.checksum_lists == [str(sums)]
    assert put.document.asked.kept == ["atimes"]
    assert put.document.asked.rate_schedule == "08:00=800Mbit/s,18:00=none"


@pytest.mark.each_python
def test_there_and_back_again(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [0, 1, 70_000, 3_000_000])
    seen = []
    with tl.serve(root=root, tokens=tokens) as server:
        put = tl.copy(
            source, server.place(), token=token, recursive=True, on_progress=seen.append
        )
        got = tl.copy(server.place("run7"), tmp_path / "back", token=token, recursive=True)
        again = tl.copy(source, server.place(), token=token, recursive=True)
    assert contents(root / "run7") == contents(source)
    back = tmp_path / "back"
    assert contents(back / "run7" if (back / "run7").exists() else back) == contents(source)
    assert put.document.files == 4
    assert sorted(put.files.column("outcome")) == ["published"] * 4
    assert put.files.column("blake3")[0] is not None
    assert set(again.files.column("outcome")) == {"skipped"}
    assert {event.kind for event in seen} >= {"connected", "planned", "published"}
    assert got.document.direction == "reverse"
    assert token not in put.to_json() and token not in repr(put.document.command_line)
    unpickled = pickle.loads(pickle.dumps(put))
    assert unpickled.files.column("name") == put.files.column("name")


def test_a_dry_run_and_selection(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [10, 20])
    (source / "a.tmp").write_text("x")
    with tl.serve(root=root, tokens=tokens) as server:
        dry = tl.copy(
            source, server.place(), token=token, recursive=True, dry_run=True, exclude="*.tmp"
        )
        assert contents(root) == {}
        listed = tl.copy(
            source, server.place(), token=token, recursive=True, files_from=["001.bin"]
        )
    assert set(dry.files.column("outcome")) == {"would-copy"}
    assert not any("tmp" in name for name in dry.files.column("name"))
    assert len(listed.files) == 1


@pytest.mark.parametrize("wrong", ["another", "read-only"])
def test_tokens_without_rights(store, tmp_path, wrong):
    root, tokens, _ = store
    source = made(tmp_path / "run7", [10])
    token = {
        "another": lambda: tl.add_token(tmp_path / "others", "eve"),
        "read-only": lambda: tl.add_token(tokens, "bob", read_only=True),
    }[wrong]()
    with tl.serve(root=root, tokens=tokens) as server:
        with pytest.raises(tl.Error) as caught:
            tl.copy(source, server.place(), token=token, recursive=True, patience=2)
        assert caught.value.hint
        assert token not in str(caught.value)
        # As the filesystem of fsspec says it.
        assert isinstance(caught.value, PermissionError)
    assert contents(root) == {}


def test_paths_that_do_not_exist(store, tmp_path):
    root, tokens, token = store
    with tl.serve(root=root, tokens=tokens) as server:
        for places in [
            (tmp_path / "nothing", server.place()),
            (server.place("nothing"), tmp_path),
            (server.place("../../etc/passwd"), tmp_path),
        ]:
            with pytest.raises(tl.Error) as caught:
                tl.copy(*places, token=token, history=False)
            assert "nothing" in str(caught.value) or "passwd" in str(caught.value)


SERVER = """
import sys, time
import trunkline as tl
server = tl.serve(root=sys.argv[1], tokens=sys.argv[2], port=int(sys.argv[3]))
print(server.port, flush=True)
time.sleep(600)
"""


def served(root, tokens, port=0):
    started = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(root), str(tokens), str(port)],
        stdout=subprocess.PIPE,
        text=True,
    )
    return started, int(started.stdout.readline())


def test_a_server_that_is_not_there_yet_is_waited_for_on_request(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [10])
    server, port = served(root, tokens)
    server.kill()
    server.wait()
    places = source, f"trunkline://127.0.0.1:{port}/"
    with pytest.raises(tl.RunError, match="refuses connections"):
        tl.copy(*places, token=token, recursive=True)
    call = tl.copy.start(*places, token=token, recursive=True, patience=60)
    time.sleep(1)
    server, _ = served(root, tokens, port)
    try:
        call.result()
    finally:
        server.kill()
        server.wait()
    assert contents(root / "run7") == contents(source)


def test_a_file_that_another_copy_keeps(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [10])
    held = root / ".000.bin.trunkline-part"
    with tl.serve(root=root, tokens=tokens) as server, held.open("w") as part:
        fcntl.flock(part, fcntl.LOCK_EX)
        with pytest.raises(tl.NotFinished, match="another copy is writing"):
            tl.copy(f"{source}/", server.place(), token=token, recursive=True)


def test_a_server_that_dies_within_a_call(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [4_000_000] * 10)
    server, port = served(root, tokens)
    place = f"trunkline://127.0.0.1:{port}/"
    call = tl.copy.start(
        source, place, token=token, recursive=True, max_rate="80M", patience=2, streams=2
    )
    for event in call:
        if event.kind == "published":
            server.kill()
            server.wait()
    with pytest.raises(tl.NotFinished) as caught:
        call.result()
    assert "goes on" in caught.value.hint
    assert len(caught.value.partial.files) >= 1
    # The same copy goes on with what is left.
    server, _ = served(root, tokens, port)
    try:
        rest = tl.copy(source, place, token=token, recursive=True)
    finally:
        server.kill()
        server.wait()
    assert contents(root / "run7") == contents(source)
    assert rest.document.sent_bytes < 40_000_000


@pytest.mark.each_python
def test_ctrl_c_leaves_the_journal_and_the_same_copy_goes_on(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "big", [30_000_000])
    with tl.serve(root=root, tokens=tokens) as server:
        waited = []

        def interrupt():
            waited.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        def on_progress(event):
            if event.kind == "progress" and event.bytes and event.bytes > 6_000_000 and not waited:
                threading.Thread(target=interrupt).start()

        with pytest.raises(KeyboardInterrupt):
            tl.copy(
                source, server.place(), token=token, recursive=True, max_rate="80M",
                on_progress=on_progress,
            )
        assert time.monotonic() - waited[0] < 1
        deadline = time.monotonic() + 5
        while server.copies and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [name for name in contents(root)]
        assert left and "big/000.bin" not in left
        rest = tl.copy(source, server.place(), token=token, recursive=True)
    assert contents(root / "big") == contents(source)
    assert rest.document.sent_bytes < 29_000_000


def test_a_full_disk(as_root, store, tmp_path):
    _, tokens, token = store
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(small)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("cannot mount")
    try:
        source = made(tmp_path / "run7", [1_000_000] * 6)
        with tl.serve(root=small, tokens=tokens) as server:
            with pytest.raises(tl.RunError) as caught:
                tl.copy(source, server.place(), token=token, recursive=True, patience=2)
            assert caught.value.hint
            assert isinstance(caught.value, OSError)
            assert caught.value.errno == errno.ENOSPC
            files = fsspec.filesystem("trunkline", host="127.0.0.1", port=server.port, token=token)
            with pytest.raises(OSError, match="room|space") as full:
                files.put(str(source), "/other", recursive=True)
            assert full.value.errno == errno.ENOSPC
            # Once there is room, the same copy goes on.
            bigger = ["mount", "-o", "remount,size=20m", str(small)]
            subprocess.run(bigger, check=True)
            tl.copy(source, server.place(), token=token, recursive=True)
        assert contents(small / "run7") == contents(source)
        subprocess.run(["mount", "-o", "remount,size=6m", str(small)], check=True)
        large = tl.measure("sim:slac-cern", streams=64, history=False)
        with pytest.raises(tl.RunError):
            large.save(small / "run.json")
        assert not (small / "run.json").exists()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


@pytest.mark.each_python
def test_two_servers_and_iperf3_like_tests():
    with tl.serve() as one, tl.serve() as other:
        assert one.port != other.port
        measured = tl.measure(one.address, duration=1, history=False)
        assert measured.document.target.kind == "live"
        assert measured.document.peer == "trunkline"
        with pytest.raises(tl.Error, match="in use"):
            tl.serve(port=one.port)
    with pytest.raises(tl.Error):
        tl.measure(one.address, duration=1, history=False)


def test_wrong_servers_are_told(tmp_path, store):
    root, tokens, _ = store
    for arguments, said in [
        (dict(root=root), "needs `tokens`"),
        (dict(root=root, tokens=tmp_path / "none"), "there is no tokens file"),
        (dict(bind="nowhere"), "bind"),
        (dict(root=root, tokens=tokens, read_only=True, write_only=True), "cannot be used"),
    ]:
        with pytest.raises(tl.RequestError, match=said):
            tl.serve(**arguments)


def test_a_copy_that_follows_ends_with_a_result(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [10, 20])
    seen = []

    def watch(event):
        seen.append(event)
        if event.kind == "following" and event.number == 2:
            (source / "later").write_bytes(b"later")

    with tl.serve(root=root, tokens=tokens) as server:
        result = tl.copy(
            source,
            server.place(),
            token=token,
            recursive=True,
            follow="10s",
            on_progress=watch,
        )
        with pytest.raises(tl.RequestError, match="`follow`"):
            tl.copy(source, server.place(), token=token, recursive=True, follow=True, delete=True)
    assert contents(root / "run7") == contents(source)
    assert result.document.files == 3
    assert result.document.waiting_files == 0
    assert result.document.asked.follow.until_idle_seconds == 10


def test_of_a_file_that_changed_only_the_difference_is_sent(store, tmp_path):
    root, tokens, token = store
    source = made(tmp_path / "run7", [3_000_000]) / "000.bin"
    (root / "000.bin").write_bytes(source.read_bytes())
    with source.open("r+b") as file:
        file.seek(1_500_000)
        file.write(b"!")
        file.truncate(2_999_999)
    with tl.serve(root=root, tokens=tokens) as server:
        result = tl.copy(source, server.place(), token=token, delta=True, streams=1)
    assert (root / "000.bin").read_bytes() == source.read_bytes()
    document = result.document
    assert document.sent_bytes + document.unchanged_bytes == 2_999_999
    assert 0 < document.sent_bytes <= 2 * 128 * 1024

"""Words: places on the command line, options for ssh, names in terminals and in JSON, what ssh and the far program say."""

import base64
import functools
import os

from get import DATA
from stage import Case

GROUP = "words"
# In ssh's place: notes its words, and runs the far program here. `-G` runs beside the copy's own ssh, so all words of one
# process are noted with one write.
SSH = """#!/bin/sh
printf '%s\\n' "$@" >> {folder}/ssh-words
for word; do [ "$word" = -V ] && exit 0; [ "$word" = -G ] && {{ echo "hostname 127.0.0.1"; exit; }}; last=$word; done
{before}
cd {home} && SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22" exec {then}
"""


def ssh(stage, then='sh -c "$last"', before=""):
    home = stage.folder / "home"
    home.mkdir(exist_ok=True)
    return str(stage.write(stage.folder / "ssh", SSH.format(folder=stage.folder, home=home, then=then, before=before), 0o755))


def over_ssh(stage, *words, then='sh -c "$last"', before="", **more):
    return stage.copy("-e", ssh(stage, then, before), "--far-program", stage.bench.trunkline, *words, **more)


def ssh_words(stage):
    path = stage.folder / "ssh-words"
    return path.read_text().splitlines() if path.exists() else []


# --- places ----------------------------------------------------------------------------------------------------------------------------


def places():
    def refused(name, *words, code=2, told=(), ran=False):
        def play(stage):
            stage.write(stage.world / "a", "a")
            stage.write(stage.world / "a:b", "b")
            result = over_ssh(stage, *words)
            stage.expect(result, code=code, told=told)
            assert "error" in result.err.lower(), "no word of what is wrong"
            assert not (stage.folder / "ran").exists(), "an option of ssh ran a program"
            assert bool(ssh_words(stage)) == ran, "ssh was started"

        return Case(GROUP, f"place: {name}", play)

    bad_host = functools.partial(refused, told="names no host")
    yield bad_host("a host that is an option", "--", "a", "-oProxyCommand=touch${IFS}ran:x")
    yield bad_host("a user and a host that is an option", "a", "me@-oProxyCommand=x:y")
    yield bad_host("an option in brackets", "--", "a", "[-oProxyCommand=x]:y")
    yield bad_host("a user that is an option", "--", "a", "-lroot@h:y")
    yield bad_host("a user and no host", "a", "me@:y")
    yield bad_host("empty brackets", "a", "[]:y")
    yield refused("nothing", "a", "", told="a value is required")
    yield refused("rsync's way", "a", "rsync://h/x", told="not a way to reach a host")
    yield refused("scp's way", "a", "scp://h/x", told="not a way to reach a host")
    yield refused("a web page", "http://h/x", ".", told="not a way to reach a host")
    yield refused("two hosts, the first without the file", "h:x", "g:y", code=2, told="there is no `x`", ran=True)
    yield refused("three hosts", "h:x", "i:x", "g:y")
    yield refused("two places here", "a", "b")
    yield refused("only one", "a", code=2)
    yield refused("a server without a name", "a", "trunkline:///x")
    yield refused("a server's port 0", "a", "trunkline://h:0/x")
    yield refused("a server's port 65536", "a", "trunkline://h:65536/x")
    yield refused("a server's port that is none", "a", "trunkline://h:x/x")
    yield refused("a zero byte in a server's name", "a", "trunkline://127.0.0.1/a%00b")
    yield refused("half an escape", "a", "trunkline://127.0.0.1/a%2")
    yield refused("an escape that is none", "a", "trunkline://127.0.0.1/a%zz")
    yield refused("a server without a token", "a", "trunkline://127.0.0.1/x", told="token")
    yield refused("another user's home", "h:~root/x", ".", told="~")
    yield refused("a source that is not here", "nothing", "h:x", code=None)
    for name, options in {
        "no streams": ["-P", "0"],
        "129 streams": ["-P", "129"],
        "a rate of nothing": ["--max-rate", "0"],
        "a rate that is none": ["--max-rate", "fast"],
        "a patience of nothing": ["--patience=0s"],
        "a port range upside down": ["--port-range", "9-5"],
        "port 70000": ["--port-range", "70000"],
        "ssh without a command": ["-e", ""],
        "an open quote": ["-e", "ssh 'x"],
        "an unknown option": ["--nonsense"],
    }.items():
        yield refused(name, *options, "a", "h:x", code=2)


def names_over_ssh():
    """Names that a shell or a parser might take for something else arrive as they are, both ways."""
    nasty = {
        "spaces": b"a b",
        "a quote": b"a'b",
        "two quotes": b'a"b',
        "a dollar": b"$HOME",
        "a command": b"$(touch ran)",
        "backticks": b"`touch ran`",
        "a semicolon": b"a;touch ran",
        "a pipe": b"a|b",
        "a star": b"*",
        "a question": b"?",
        "brackets": b"[x]",
        "braces": b"{a,b}",
        "a backslash": b"a\\b",
        "a newline": b"a\nb",
        "a tab": b"a\tb",
        "an option": b"-rf",
        "an escape": b"\x1b[2Ja",
        "no text": b"\xff\xfe",
        "turned text": "a\u202etxt.exe".encode(),
        "a percent": b"%s%n%00",
        "a tilde": b"~",
        "a comment": b"#x",
        "a bell": b"a\x07",
        "a return": b"a\rb",
        "a C1 control": "a\u009bb".encode(),
        "a zero width space": "a\u200bb".encode(),
        "255 bytes": b"n" * 255,
    }
    for name, file in nasty.items():
        yield Case(GROUP, f"name: {name}", functools.partial(there_and_back, file=file))
    yield Case(GROUP, "name: a folder of all of them", functools.partial(all_there_and_back, files=list(nasty.values())))


def there_and_back(stage, file):
    there = os.path.join(os.fsencode(stage.world), b"s", file)
    os.makedirs(os.path.dirname(there))
    with open(there, "wb") as one:
        one.write(DATA)
    (stage.folder / "home/t").mkdir(parents=True)
    stage.expect(over_ssh(stage, b"./s/" + file, "h:t/"), code=0)
    arrived = os.path.join(os.fsencode(stage.folder), b"home/t", file)
    assert open(arrived, "rb").read() == DATA
    # Wildcards are for the far end; a name is asked for as such where it has none.
    if not set(file) & set(b"*?[{"):
        stage.expect(over_ssh(stage, b"h:t/" + file, "dst/"), code=0)
        assert open(os.path.join(os.fsencode(stage.world), b"dst", file), "rb").read() == DATA
    assert not list(stage.folder.rglob("ran")), "a word was run"


def all_there_and_back(stage, files):
    folder = os.path.join(os.fsencode(stage.world), b"s")
    os.makedirs(folder)
    for file in files:
        with open(os.path.join(folder, file), "wb") as one:
            one.write(file)
    (stage.folder / "home").mkdir()
    stage.expect(over_ssh(stage, "-r", "s/", "h:t"), code=0)
    result = over_ssh(stage, "-r", "h:t/", "dst/back")
    stage.expect(result, code=0)
    got = os.path.join(os.fsencode(stage.world), b"dst/back")
    assert sorted(os.listdir(got)) == sorted(files)
    told = {
        base64.b64decode(one["name_bytes"]) if "name_bytes" in one else one["name"].encode() for one in result.events("published")
    }
    assert told == set(files), f"JSON names {sorted(told ^ set(files))}"


def names_in_json():
    for name, file in {
        "an escape": b"a\x1b",
        "an escape spelt out": b"a\\x1b",
        "no text": b"a\xff",
        "text": "\u00e9".encode(),
        "a replacement": "a\ufffd".encode(),
        "turned": "\u202e".encode(),
    }.items():
        yield Case(GROUP, f"JSON: {name}", functools.partial(told_exactly, file=file), "F19")
    yield Case(GROUP, "verbose names on a terminal", verbose_names, "F19")


def told_exactly(stage, file):
    folder = os.path.join(os.fsencode(stage.world), b"s")
    os.makedirs(folder)
    with open(os.path.join(folder, file), "wb") as one:
        one.write(DATA)
    (stage.folder / "home").mkdir()
    for kind, options in {"would-copy": ["-n"], "published": [], "skipped": []}.items():
        result = over_ssh(stage, "-r", *options, "s/", "h:t")
        stage.expect(result, code=0)
        (one,) = result.events(kind)
        told = base64.b64decode(one["name_bytes"]) if "name_bytes" in one else one["name"].encode()
        assert told == file, f"{kind}: {one}"


def verbose_names(stage):
    for file in ("a\x1b[2Jb", "a\u202eb", "a\rb"):
        stage.write(stage.world / "s" / file, DATA)
    (stage.folder / "home").mkdir()
    words = ["copy", "--no-history", "-v", "-r", "-e", ssh(stage), "--far-program", stage.bench.trunkline, "s/", "h:t"]
    result = stage.run(*words)
    stage.expect(result, code=0)
    assert "\rb" not in result.err + result.out


CASES = [*places(), *names_over_ssh(), *names_in_json()]

"""Words: places on the command line, options for ssh, names in terminals and in JSON, what ssh and the far program say."""

import base64
import functools
import json
import os
import pathlib
import socket
import stat

import encoding
import talking
from encoding import entry
from get import DATA, get, give
from stage import Case, Skipped, until

GROUP = "words"
# In ssh's place: notes its words, and runs the far program here.
SSH = """#!/bin/sh
for word; do printf '%s\\n' "$word" >> {folder}/ssh-words; done
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
    yield refused("two hosts", "h:x", "g:y")
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
    for name, options in {"no streams": ["-P", "0"], "129 streams": ["-P", "129"], "a rate of nothing": ["--max-rate", "0"], "a rate that is none": ["--max-rate", "fast"],
                          "a patience of nothing": ["--patience=0s"], "a port range upside down": ["--port-range", "9-5"], "port 70000": ["--port-range", "70000"],
                          "ssh without a command": ["-e", ""], "an open quote": ["-e", "ssh 'x"], "an unknown option": ["--nonsense"]}.items():
        yield refused(name, *options, "a", "h:x", code=2)


def names_over_ssh():
    """Names that a shell or a parser might take for something else arrive as they are, both ways."""
    nasty = {"spaces": b"a b", "a quote": b"a'b", "two quotes": b'a"b', "a dollar": b"$HOME", "a command": b"$(touch ran)", "backticks": b"`touch ran`", "a semicolon": b"a;touch ran",
             "a pipe": b"a|b", "a star": b"*", "a question": b"?", "brackets": b"[x]", "braces": b"{a,b}", "a backslash": b"a\\b", "a newline": b"a\nb", "a tab": b"a\tb",
             "an option": b"-rf", "an escape": b"\x1b[2Ja", "no text": b"\xff\xfe", "turned text": "a\u202etxt.exe".encode(), "a percent": b"%s%n%00", "a tilde": b"~",
             "a comment": b"#x", "a bell": b"a\x07", "a return": b"a\rb", "a C1 control": "a\u009bb".encode(), "a zero width space": "a\u200bb".encode(), "255 bytes": b"n" * 255}
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
    told = {base64.b64decode(one["name_bytes"]) if "name_bytes" in one else one["name"].encode() for one in result.events("published")}
    assert told == set(files), f"JSON names {sorted(told ^ set(files))}"


def names_in_json():
    for name, file in {"an escape": b"a\x1b", "an escape spelt out": b"a\\x1b", "no text": b"a\xff", "text": "\u00e9".encode(), "a replacement": "a\ufffd".encode(), "turned": "\u202e".encode()}.items():
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
        one, = result.events(kind)
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


# --- ssh and the far program -------------------------------------------------------------------------------------------------------------

def ssh_itself():
    yield Case(GROUP, "ssh gets nothing but its pipe", pipe_alone, "F20")
    yield Case(GROUP, "the secret is on no command line and in no environment", no_secret)
    yield Case(GROUP, "options for ssh arrive as words", own_options)

    def far(name, then, code=2, told=(), before=""):
        def play(stage):
            stage.write(stage.world / "a", "a")
            result = over_ssh(stage, "a", "h:t", then=then, before=before)
            stage.expect(result, code=code, told=told)
        return Case(GROUP, f"far end: {name}", play)
    yield far("nothing is said", "true")
    yield far("it fails", "sh -c 'exit 42'")
    yield far("noise of 1 MiB", "sh -c 'yes | head -c 1000000'")
    yield far("noise that never ends", "yes", told="y")
    yield far("a line of 1 MiB", "sh -c 'head -c 1000000 /dev/zero | tr \"\\0\" x; echo'")
    yield far("noise that steers the terminal", "printf '\\033[2J\\342\\200\\256\\n'")
    yield far("a banner before the answer", 'sh -c "$last"', code=0, before="echo welcome; echo")
    yield far("another version", "echo '{\"trunkline_copy\":9,\"x\":1}'", told="version")
    yield far("JSON of something else", "echo '{\"a\":[[[[1]]]]}'")
    yield far("deep JSON", "sh -c 'head -c 3000 /dev/zero | tr \"\\0\" [; echo'")
    yield far("an answer without a port", "echo '{\"trunkline_copy\":2,\"software\":\"x\",\"addresses\":[]}'", code=1)
    yield far("a port where nothing listens", "echo '{\"trunkline_copy\":2,\"software\":\"x\",\"port\":9,\"addresses\":[\"127.0.0.1\"]}'", code=1)
    yield far("an address that is none", "echo '{\"trunkline_copy\":2,\"software\":\"x\",\"port\":9,\"addresses\":[\"nowhere\"]}'")
    yield far("a port beyond all", "echo '{\"trunkline_copy\":2,\"software\":\"x\",\"port\":99999,\"addresses\":[]}'")
    yield Case(GROUP, "far end: another certificate than it told", wrong_fingerprint)
    yield Case(GROUP, "far end: an end that does not know the key", stranger_at_port)
    for name, words in {"nothing": b"", "no JSON": b"hello\n", "half a line": b'{"trunkline_copy":2,', "another version": b'{"trunkline_copy":9,"key":"x"}\n',
                        "a key that is none": b'{"trunkline_copy":2,"key":"geheim"}\n', "a line of 100 KiB": b"x" * 100_000 + b"\n", "a deep line": b"[" * 4000 + b"\n",
                        "a call back to nobody": b'{"trunkline_copy":2,"key":"' + b"a" * 52 + b'","back":{"port":9,"fingerprint":[' + b",".join([b"0"] * 32) + b"]}}\n"}.items():
        yield Case(GROUP, f"copy-far is told {name}", functools.partial(far_is_told, words=words))
    yield Case(GROUP, "a forced command gives nothing from outside", forced, "F20")


def pipe_alone(stage):
    stage.write(stage.world / "a", "a")
    stage.expect(over_ssh(stage, "a", "h:t"), code=0)
    words = ssh_words(stage)
    for option in ("ClearAllForwardings=yes", "ForwardAgent=no", "PermitLocalCommand=no", "RequestTTY=no", "RemoteCommand=none"):
        assert option in words, f"{option} is not among {words}"
    assert words[words.index("h") - 1] == "--", "no -- before the host"


def no_secret(stage):
    stage.write(stage.world / "a", "a")
    before = f"tr '\\0' '\\n' < /proc/$PPID/environ > {stage.folder}/environment; tr '\\0' '\\n' < /proc/$PPID/cmdline > {stage.folder}/words; read -r line; printf '%s\\n' \"$line\" > {stage.folder}/line"
    over_ssh(stage, "a", "h:t", then=f"sh -c '(cat {stage.folder}/line; cat) | {stage.bench.trunkline} copy-far'", before=before)
    key = json.loads((stage.folder / "line").read_text())["key"]
    assert len(key) == 52
    said = [(stage.folder / name).read_text() for name in ("environment", "words", "ssh-words")] + [result.err + result.out for result in stage.results]
    assert not any(key in text for text in said), "the key is told"


def own_options(stage):
    stage.write(stage.world / "a", "a")
    (stage.folder / "home").mkdir()
    stage.expect(stage.copy("-e", f"{ssh(stage)} -p 2222 -J 'two words'", "--far-program", stage.bench.trunkline, "a", "h:t"), code=0)
    words = ssh_words(stage)
    assert "2222" in words and "two words" in words, words


def wrong_fingerprint(stage):
    far = stage.far(lambda control: None)
    stage.write(stage.world / "a", "a")
    answer = json.dumps({"trunkline_copy": 2, "software": "x", "port": far.port, "addresses": ["127.0.0.1"], "fingerprint": [7] * 32})
    stage.expect(over_ssh(stage, "a", "h:t", then=f"sh -c 'echo {json.dumps(answer)[1:-1].join(chr(34) * 2)}; sleep 3'"), code=1)
    assert not far.visits, "a hello went to a stranger"


def stranger_at_port(stage):
    """Somebody else at the port that was told: nothing is proved, nothing is told."""
    from get import impostor, answered
    far = stage.far(lambda control: None, kind=impostor(lambda far, line, near: answered(far, line, proof=bytes(32))))
    stage.write(stage.world / "a", "a")
    answer = json.dumps({"trunkline_copy": 2, "software": "x", "port": far.port, "addresses": ["127.0.0.1"]})
    stage.expect(over_ssh(stage, "a", "h:t", then=f"sh -c 'echo {json.dumps(answer)[1:-1].join(chr(34) * 2)}; sleep 3'"), code=1, told="does not know")


def far_is_told(stage, words):
    process = stage.start("sh", "-c", f"{stage.bench.trunkline} copy-far < {stage.write(stage.folder / 'line', words)}", environment={"SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22"})
    result = stage.finish(process, 40) if b"back" not in words else None
    if result:
        stage.expect(result, code=None, never=["geheim"])
        assert result.code != 0 and result.err, result
    else:
        # It calls on and on; nobody answers, and that costs nothing.
        until(lambda: True, 1, "")


def forced(stage):
    """The key is bound to a folder, whatever is asked for."""
    stage.write(stage.root / "inside", "in")
    (stage.root / "out").symlink_to("../outside")
    then = f"{stage.bench.trunkline} copy-far --root {stage.root} --read-only"
    stage.expect(over_ssh(stage, "h:inside", "dst/", then=then), code=0)
    for outside in ("h:../outside/canary", f"h:{stage.folder}/outside/canary", "h:out/canary", "h:/etc/passwd"):
        result = over_ssh(stage, outside, "dst/taken", then=then)
        assert result.code in (1, 2) and not (stage.world / "dst/taken").exists(), outside
    result = over_ssh(stage, "dst/inside", "h:new", then=then)
    assert result.code != 0 and not (stage.root / "new").exists()


# --- tokens, history, special files ------------------------------------------------------------------------------------------------------

def tokens():
    def file_of(name, content, told=(), mode=0o600, code=None, owner=None):
        def play(stage):
            path = stage.write(stage.folder / "tokens", content, mode)
            if owner is not None:
                if os.geteuid() != 0:
                    raise Skipped("only root can give a file away")
                os.chown(path, owner, owner)
            process = stage.start(stage.bench.trunkline, "serve", "-B", "127.0.0.1", "-p", "1", "--root", stage.root, "--tokens", path)
            result = stage.finish(process, 40)
            assert result.code in (1, 2), result.code
            stage.expect(result, code=None, told=told, never=["a" * 52, "geheim"])
        return Case(GROUP, f"tokens file: {name}", play, "F22" if owner else "")
    secret = "a" * 52
    yield file_of("readable by others", f"ana rw {secret}\n", mode=0o644)
    yield file_of("another user's", f"ana rw {secret}\n", owner=65534)
    yield file_of("a name twice", f"ana rw {secret}\nana r {secret}\n", told="again")
    yield file_of("no rights", f"ana {secret}\n")
    yield file_of("unknown rights", f"ana x {secret}\n")
    yield file_of("a secret that is none", "ana rw geheim\n")
    yield file_of("a folder with dots", f"ana rw {secret} root=../x\n")
    yield file_of("an absolute folder", f"ana rw {secret} root=/etc\n")
    yield file_of("noise", os.urandom(5000))
    yield Case(GROUP, "a token that others can read is a warning", readable_token)
    yield Case(GROUP, "a wrong token is not repeated", wrong_token)
    yield Case(GROUP, "history is its owner's alone", private_history, "F21")
    for kind in ("a pipe", "a socket", "a device"):
        yield Case(GROUP, f"{kind} as a source", functools.partial(special_source, kind=kind))
    yield Case(GROUP, "a folder that is a link to itself as a source with -L", looped_source)


def readable_token(stage):
    server = stage.serve()
    stage.write(stage.root / "notes.txt", "x")
    stage.token_file.chmod(0o644)
    result = stage.copy(f"trunkline://127.0.0.1:{server.port}/notes.txt", "dst", "--token-file", stage.token_file)
    stage.expect(result, code=0, told="chmod 600", never=[stage.bench.token.strip().rsplit("-", 1)[1]])


def wrong_token(stage):
    server = stage.serve()
    secret = "b" * 51 + "a"
    stage.write(stage.token_file, f"tl1-ana-{secret}\n", 0o600)
    result = stage.copy(f"trunkline://127.0.0.1:{server.port}/notes.txt", "dst", "--token-file", stage.token_file)
    stage.expect(result, code=1, never=[secret])
    assert secret not in server.said()


def private_history(stage):
    stage.write(stage.world / "a", "a")
    state = stage.folder / "state"
    words = ["copy", "-e", ssh(stage), "--far-program", stage.bench.trunkline, "a", "h:t"]
    stage.expect(stage.finish(stage.start(stage.bench.trunkline, *words, environment={"TRUNKLINE_STATE": str(state)})), code=0)
    for path in [state, *state.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, f"{path} has {oct(path.stat().st_mode)}"


def special_source(stage, kind):
    (stage.world / "s").mkdir()
    path = stage.world / "s/special"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        here = os.open(stage.world / "s", os.O_RDONLY)
        one = socket.socket(socket.AF_UNIX)
        one.bind(f"/proc/self/fd/{here}/special")
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 5))
        except PermissionError:
            raise Skipped("devices can be made by root alone") from None
    stage.write(stage.world / "s/a", DATA)
    (stage.folder / "home").mkdir(exist_ok=True)
    stage.expect(over_ssh(stage, "-r", "s/", "h:t"), code=1, told="special")
    assert (stage.folder / "home/t/a").read_bytes() == DATA and not (stage.folder / "home/t/special").exists()


def looped_source(stage):
    stage.write(stage.world / "s/a", DATA)
    (stage.world / "s/loop").symlink_to(".")
    (stage.folder / "home").mkdir()
    result = over_ssh(stage, "-r", "-L", "s/", "h:t")
    assert (stage.folder / "home/t/a").read_bytes() == DATA
    assert result.code in (0, 1)


CASES = [*places(), *names_over_ssh(), *names_in_json(), *ssh_itself(), *tokens()]

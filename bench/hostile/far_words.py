"""What ssh and the far program are told and say, tokens, history, and sources that are no files."""

import functools
import json
import os
import socket
import stat

from get import DATA
from get_who import answered, impostor
from stage import Case
from ends import loopback
from watching import Skipped, until
from words import GROUP, over_ssh, ssh, ssh_words

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
    yield far("another version", 'echo \'{"trunkline_copy":9,"x":1}\'', told="version")
    yield far("JSON of something else", "echo '{\"a\":[[[[1]]]]}'")
    yield far("deep JSON", "sh -c 'head -c 3000 /dev/zero | tr \"\\0\" [; echo'")
    yield far("an answer without a port", 'echo \'{"trunkline_copy":6,"software":"x","addresses":[]}\'', code=1)
    yield far(
        "a port where nothing listens", 'echo \'{"trunkline_copy":6,"software":"x","port":9,"addresses":["127.0.0.1"]}\'', code=1
    )
    yield far("an address that is none", 'echo \'{"trunkline_copy":6,"software":"x","port":9,"addresses":["nowhere"]}\'')
    yield far("a port beyond all", 'echo \'{"trunkline_copy":6,"software":"x","port":99999,"addresses":[]}\'')
    yield Case(GROUP, "far end: another certificate than it told", wrong_fingerprint)
    yield Case(GROUP, "far end: an end that does not know the key", stranger_at_port)
    for name, words in {
        "nothing": b"",
        "no JSON": b"hello\n",
        "half a line": b'{"trunkline_copy":6,',
        "another version": b'{"trunkline_copy":9,"key":"x"}\n',
        "a key that is none": b'{"trunkline_copy":6,"key":"geheim"}\n',
        "a line of 100 KiB": b"x" * 100_000 + b"\n",
        "a deep line": b"[" * 4000 + b"\n",
        "a call back to nobody": b'{"trunkline_copy":6,"key":"'
        + b"a" * 52
        + b'","back":{"port":9,"fingerprint":['
        + b",".join([b"0"] * 32)
        + b"]}}\n",
    }.items():
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
    said = [(stage.folder / name).read_text() for name in ("environment", "words", "ssh-words")] + [
        result.err + result.out for result in stage.results
    ]
    assert not any(key in text for text in said), "the key is told"


def own_options(stage):
    stage.write(stage.world / "a", "a")
    (stage.folder / "home").mkdir()
    stage.expect(
        stage.copy("-e", f"{ssh(stage)} -p 2222 -J 'two words'", "--far-program", stage.bench.trunkline, "a", "h:t"), code=0
    )
    words = ssh_words(stage)
    assert "2222" in words and "two words" in words, words


def wrong_fingerprint(stage):
    far = stage.far(lambda control: None)
    stage.write(stage.world / "a", "a")
    answer = json.dumps(
        {"trunkline_copy": 6, "software": "x", "port": far.port, "addresses": [loopback(far.port)], "fingerprint": [7] * 32}
    )
    stage.expect(over_ssh(stage, "a", "h:t", then=f"sh -c 'echo {json.dumps(answer)[1:-1].join(chr(34) * 2)}; sleep 3'"), code=1)
    assert not far.visits, "a hello went to a stranger"


def stranger_at_port(stage):
    """Somebody else at the port that was told: nothing is proved, nothing is told."""
    far = stage.far(lambda control: None, kind=impostor(lambda far, line, near: answered(far, line, proof=bytes(32))))
    stage.write(stage.world / "a", "a")
    answer = json.dumps({"trunkline_copy": 6, "software": "x", "port": far.port, "addresses": [loopback(far.port)]})
    stage.expect(
        over_ssh(stage, "a", "h:t", then=f"sh -c 'echo {json.dumps(answer)[1:-1].join(chr(34) * 2)}; sleep 3'"),
        code=1,
        told="does not know",
    )


def far_is_told(stage, words):
    process = stage.start(
        "sh",
        "-c",
        f"{stage.bench.trunkline} copy-far < {stage.write(stage.folder / 'line', words)}",
        environment={"SSH_CONNECTION": "127.0.0.1 1 127.0.0.1 22"},
    )
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
            process = stage.start(
                stage.bench.trunkline, "serve", "-B", "127.0.0.1", "-p", "1", "--root", stage.root, "--tokens", path
            )
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
    result = stage.copy(f"trunkline://{server.at}/notes.txt", "dst", "--token-file", stage.token_file)
    stage.expect(result, code=0, told="chmod 600", never=[stage.bench.token.strip().rsplit("-", 1)[1]])


def wrong_token(stage):
    server = stage.serve()
    secret = "b" * 51 + "a"
    stage.write(stage.token_file, f"tl1-ana-{secret}\n", 0o600)
    result = stage.copy(f"trunkline://{server.at}/notes.txt", "dst", "--token-file", stage.token_file)
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
    stage.expect(over_ssh(stage, "-r", "s/", "h:t"), code=0, told="special")
    assert (stage.folder / "home/t/a").read_bytes() == DATA and not (stage.folder / "home/t/special").exists()


def looped_source(stage):
    stage.write(stage.world / "s/a", DATA)
    (stage.world / "s/loop").symlink_to(".")
    (stage.folder / "home").mkdir()
    result = over_ssh(stage, "-r", "-L", "s/", "h:t")
    assert (stage.folder / "home/t/a").read_bytes() == DATA
    assert result.code in (0, 1)


CASES = [*ssh_itself(), *tokens()]

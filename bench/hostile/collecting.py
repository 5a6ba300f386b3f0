"""A collector with its pages, an agent that says what a case wants, and a browser that does."""

import itertools
import json
import socket
import time

from line import WAIT, Ended, frame
from stage import Server
from talking import Near
from watching import until

VERSION = 1
# Who knows it may silence alerts.
WORD = "a word of more than sixteen letters"
PLAN = """
[hosts]
ana = { address = "192.0.2.1" }
bob = { address = "192.0.2.2" }
[groups]
both = { mesh = ["ana", "bob"] }
[tasks]
trips = { kind = "ping", group = "both", every = "5min", duration = "10s" }
"""
NUMBERS = itertools.count(1)


class Collector(Server):
    """A `trunkline watch serve` with pages; its token is of the host `ana`."""

    web = None

    def agent(self):
        return Agent(self)

    def ask(self, path="/", head="", method="GET", host="localhost", body=b"", seconds=WAIT):
        """The whole answer: status, head and body."""
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        text = f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{length}{head}\r\n"
        return self.raw(text.encode() + body, seconds)

    def raw(self, data, seconds=WAIT):
        with self.connection() as connection:
            connection.settimeout(seconds)
            try:
                connection.sendall(data)
            except OSError:
                pass  # It has answered and takes no more.
            return answer(connection)

    def connection(self, data=b""):
        connection = socket.create_connection(("127.0.0.1", self.web), timeout=WAIT)
        if data:
            connection.sendall(data)
        return connection

    def still_serves(self):
        """Metrics are answered, whatever others do, and pages once those that are being made are."""
        status, _, _ = self.ask("/metrics")
        assert status == 200, f"/metrics was answered with {status}"
        until(lambda: self.ask("/")[0] == 200, WAIT, "a page")


def answer(connection):
    """Status, head and body as far as they came; status 0 where nothing did."""
    data = b""
    try:
        while got := connection.recv(1 << 16):
            data += got
    except ConnectionError:
        pass
    head, _, body = data.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    return status, head.decode(errors="replace").lower(), body.decode(errors="replace")


def collect(stage, *options):
    stage.write(stage.folder / "watch.toml", PLAN)
    tokens = stage.folder / "tokens"
    name, secret = stage.bench.token.strip().removeprefix("tl1-").rsplit("-", 1)
    stage.write(tokens, f"{name} rw {secret}\n", 0o600)
    # The kernel gives the port of the pages, and the log says it.
    word = stage.write(stage.folder / "word", WORD)
    words = ["watch", "serve", stage.folder / "watch.toml", "--tokens", tokens, "--web", "127.0.0.1:0", "--web-token-file", word]
    words += ["--database", stage.folder / "watch.db", *options]
    collector = stage.listening(lambda port: [*words, "--port", port], Collector)
    until(lambda: "pages on http://" in collector.said(), WAIT, f"pages: {collector.said()}")
    collector.web = int(collector.said().split("pages on http://127.0.0.1:")[1].split("/")[0])
    return collector


def visit(at=None, **changed):
    """A visit as an honest agent sends it."""
    at = int(time.time()) - 60 if at is None else at
    own = {key: changed.pop(key) for key in ("pair", "task", "rates_bits_per_second", "document", "id") if key in changed}
    return {
        "id": f"{next(NUMBERS):032x}",
        "pair": {"from": "ana", "to": "bob"},
        "task": "trips",
        "visit": {"at_unix_seconds": at, "kind": "ping", **changed},
        **own,
    }


class Agent:
    """One that knows the token of `ana`, and says anything."""

    def __init__(self, collector):
        self.near = Near(collector.port, collector.token)
        collector.stage.closes.append(self.near.close)

    def say(self, body):
        """The answer to these bytes."""
        self.near.control.send(frame(body))
        return json.loads(self.near.control.frame())

    def report(self, *visits, **changed):
        whole = {
            "version": VERSION,
            "software": "peer 1",
            "hosts": ["ana"],
            "host": {},
            "plan": "00",
            "now_unix_seconds": int(time.time()),
            "waiting": len(visits),
            "visits": list(visits),
        }
        return self.say(json.dumps(whole | changed).encode())

    def receipts(self, *visits):
        """What became of each: `stored`, `known`, or the name of why not."""
        answer = self.report(*visits)
        assert "taken" in answer, answer
        return [one if isinstance(one, str) else next(iter(one["refused"])) if isinstance(one["refused"], dict) else one["refused"]
                for one in answer["taken"]["receipts"]]

    def refusal(self, *visits, **changed):
        answer = self.report(*visits, **changed)
        assert "refused" in answer, answer
        return answer["refused"]["what"]

    def is_gone(self):
        try:
            return self.near.control.is_closed_within(WAIT)
        except Ended:
            return True

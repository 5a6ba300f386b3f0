"""The pages of a collector: heads, bodies, readers, names, paths, words and tokens of anyone who reaches them."""

import socket
import time

from collecting import WORD, answer, collect, visit
from stage import MIB, Case

GROUP = "pages"
# Longer than any time that the server gives, and shorter than what a bound that is missing takes.
SOON = 60


def case(name, play, finding="", long=False):
    """`play(collector)`, beside which and after which pages are answered."""

    def whole(stage):
        collector = collect(stage)
        play(collector)
        collector.still_serves()

    return Case(GROUP, name, whole, finding, long)


def head(text, method="GET", path="/"):
    return f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode()


# --- what is asked --------------------------------------------------------------------------------------------------------------------


def heads():
    def says(name, data, *statuses, **more):
        def play(collector):
            status, _, body = collector.raw(data)
            assert status in statuses, f"{status}: {body[:200]}"

        return case(f"heads: {name}", play, **more)

    yield says("nonsense", b"\x00\xff\x16\x03 nonsense\r\n\r\n", 0, 400)
    yield says("a hello of TLS", b"\x16\x03\x01\x02\x00\x01" + bytes(200) + b"\r\n\r\n", 0, 400)
    yield says("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 400, 404, 505)
    yield says("80 KB", head(f"Host: localhost\r\nX: {'x' * 80_000}\r\n"), 431)
    yield says("2000 lines", head("Host: localhost\r\n" + "".join(f"X{n}: 1\r\n" for n in range(2000))), 431)
    yield says("a line without an end", b"GET / HTTP/1.1\r\nHost: " + b"x" * 100_000, 431)
    yield says("two lengths", head("Host: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n", "POST", "/silence"), 0, 400)
    yield says("a length below zero", head("Host: localhost\r\nContent-Length: -1\r\n", "POST", "/silence"), 0, 400)
    yield says("a chunk of 2^64 bytes", head("Host: localhost\r\nTransfer-Encoding: chunked\r\n", "POST", "/silence") + b"f" * 17 + b"\r\n", 0, 400, 413)
    for method in "PUT", "DELETE", "TRACE", "CONNECT", "PATCH", "<script>":
        yield says(f"the method {method}", head("Host: localhost\r\nConnection: close\r\n", method), 0, 400, 405, 404)

    def hosts(collector):
        for host in "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "a b", "\u202e", "x" * 3000:
            for path in "/", "/metrics", "/stream.ndjson", "/live", "/style.css":
                status, _, body = collector.ask(path, host=host)
                assert status in (400, 421), f"{host} got {path}: {status}"
        for host in "127.0.0.1", f"127.0.0.1:{collector.web}", "[::1]", "LOCALHOST":
            assert collector.ask("/hosts", host=host)[0] == 200, host

    yield case("heads: names of others", hosts, finding="F9a")


def paths():
    def all_of(name, wanted, statuses, *, most=100_000):
        def play(collector):
            for path in wanted:
                status, said, body = collector.ask(path)
                assert status in statuses, f"{path[:80]}: {status}"
                assert len(body) < most, f"{path[:80]}: a page of {len(body)} bytes"
                is_page = "text/html" in said
                assert not is_page or "<script>alert" not in body and "\u202e" not in body, f"{path[:80]} is shown as it is"
                # What is no request is answered before there is a page.
                is_bare = status in (414, 431)
                assert is_bare or "nosniff" in said and "content-security-policy" in said and "set-cookie" not in said, said

        return case(f"paths: {name}", play)

    wrong = 400, 404
    yield all_of("that lead nowhere", ["/nothing", "/..", "/../../etc/passwd", "/pair/..%2f..%2fetc/passwd", "//", "/%2e%2e/", "/visit/"], wrong)
    yield all_of("names that are none", [f"/pair/{one}/bob" for one in ("%ff", "%00", "%0a", "%1b", "x" * 300, "%E2%80%AE", "%3Cscript%3Ealert(1)")], wrong)
    yield all_of("100 KB", ["/" + "x" * 100_000, "/?task=" + "x" * 100_000], (414, 431))
    yield all_of("identities", [f"/visit/{one}" for one in ("1", "-1", "f" * 31, "f" * 32, "g" * 32, "f" * 5000)], wrong)
    yield all_of("numbers of events", [f"/event/trips/ana/bob/{one}" for one in ("0", "-1", "1e9", "9" * 40, "%20")], wrong)
    texts = "-1", "1e9", "9" * 30, "0x10", "nan", "%00", "%E2%80%AE", "", "NaN", "%3Cscript%3Ealert(1)%3C/script%3E"
    yield all_of("years", [f"/months?year={one}" for one in texts], (200, *wrong))
    yield all_of("limits", [f"/stream.ndjson?limit={one}" for one in texts], (200, *wrong))
    yield all_of("times", [f"/stream.ndjson?from={one}" for one in texts] + [f"/pair/ana/bob?from={one}&to=9" for one in texts], (200, *wrong))
    yield all_of("tasks", [f"/?task={one}" for one in (*texts, "x" * 254)], (200, *wrong))
    yield all_of("5000 keys", ["/?" + "&".join(f"k{n}=1" for n in range(3000)), "/?" + "task=trips&" * 2000], (200, 400, 404))


def bodies():
    def posts(name, body, *statuses, length=None, told=""):
        def play(collector):
            length_ = len(body) if length is None else length
            text = head(f"Host: localhost\r\nConnection: close\r\nContent-Length: {length_}\r\nContent-Type: application/x-www-form-urlencoded\r\n", "POST", "/silence")
            status, _, said = collector.raw(text + body)
            assert status in statuses and told in said, f"{status}: {said[:300]}"

        return case(f"bodies: {name}", play)

    yield posts("17 KB", b"reason=" + b"x" * 17_000, 413)
    yield posts("an announced 4 GiB", b"reason=x", 413, 408, length=4 << 30)
    yield posts("no form", b"\xff\x00{[", 400, 403, 415, 422)
    yield posts("3000 keys", b"a=1&" * 3000, 403)

    def endless(collector):
        text = head("Host: localhost\r\nTransfer-Encoding: chunked\r\n", "POST", "/silence")
        status, _, _ = collector.raw(text + b"400\r\n" + (b"x" * 1024 + b"\r\n400\r\n") * 4000)
        assert status in (0, 413), status

    yield case("bodies: chunks without end", endless)

    def slow(collector):
        begin = time.monotonic()
        connection = collector.connection(head("Host: localhost\r\nContent-Length: 1000\r\n", "POST", "/silence") + b"a")
        connection.settimeout(SOON)
        status, _, _ = answer(connection)
        assert status == 408 and time.monotonic() - begin < SOON, status

    yield case("bodies: one byte of a thousand", slow, finding="F5", long=True)


# --- who asks -------------------------------------------------------------------------------------------------------------------------

def tokens():
    form = b"from=ana&to=bob&task=trips&hours=2&reason=works"

    def refused(name, more="", body=form):
        def play(collector):
            status, _, said = collector.ask("/silence", more, "POST", body=body)
            assert status == 403 and WORD not in said, f"{status}: {said[:200]}"

        return case(f"tokens: {name}", play)

    kind = "Content-Type: application/x-www-form-urlencoded\r\n"
    yield refused("none", kind)
    yield refused("an empty one", kind + "Authorization: Bearer \r\n")
    yield refused("another one", kind + "Authorization: Bearer wrong\r\n")
    yield refused("a part of it", kind + f"Authorization: Bearer {WORD[:-1]}\r\n")
    yield refused("more than it", kind + f"Authorization: Bearer {WORD}x\r\n")
    yield refused("in a cookie", kind + f"Cookie: token={WORD}\r\n")
    yield refused("of another kind", kind + f"Authorization: Basic {WORD}\r\n")
    yield refused("an empty one in the form", kind, form + b"&token=")
    yield refused("of 10 KB", kind, form + b"&token=" + b"x" * 10_000)


# --- who waits ------------------------------------------------------------------------------------------------------------------------


def stored(collector, count=2000):
    """Visits enough for an answer that no socket holds."""
    agent, begin = collector.agent(), int(time.time()) - 3500
    trips = [0.1 + number / 1e6 for number in range(500)]
    for at in range(0, count, 100):
        told = agent.receipts(*(visit(begin + (at + one) // 2, round_trips_seconds=trips) for one in range(100)))
        assert set(told) == {"stored"}, told[:3]


def still():
    half, body = b"GET / HTTP/1.1\r\nHost: local", head("Host: localhost\r\nContent-Length: 1000\r\n", "POST", "/silence") + b"a"

    def stand(name, data, before=lambda collector: None, count=300):
        def play(collector):
            before(collector)
            # Eight answers of 16 MiB, and what makes them.
            collector.stage.allowed_memory = 320 * MIB
            connections = [collector.connection(data) for _ in range(count)]
            time.sleep(1)
            collector.still_serves()
            for connection in connections:
                connection.close()

        return case(f"still: 300 {name}", play, finding="F5", long=True)

    yield stand("half heads", half)
    yield stand("connections without a word", b"")
    yield stand("bodies that do not come", body)
    yield stand("readers that read nothing", head("Host: localhost\r\n", path="/stream.ndjson?limit=10000"), stored)

    def followers(collector):
        connections = [collector.connection(head("Host: localhost\r\n", path="/live")) for _ in range(120)]
        firsts = []
        for connection in connections:
            connection.settimeout(SOON)
            firsts.append(connection.recv(12))
            collector.stage.closes.append(connection.close)
        assert firsts.count(b"HTTP/1.1 200") == 100 and firsts.count(b"HTTP/1.1 503") == 20, firsts

    yield case("still: 120 pages that follow", followers)

    def slow_head(collector):
        connection = collector.connection(half)
        connection.settimeout(SOON)
        begin = time.monotonic()
        answer(connection)
        assert time.monotonic() - begin < SOON, "it waits for the rest of a head"

    yield case("still: a head that does not end", slow_head, long=True)

    def unread(collector):
        stored(collector)
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", collector.web))
        connection.sendall(head("Host: localhost\r\nConnection: close\r\n", path="/stream.ndjson?limit=10000"))
        time.sleep(45)
        connection.settimeout(SOON)
        _, said, body = answer(connection)
        length = int(said.split("content-length: ")[1].split()[0])
        assert len(body) < length, f"all {length} bytes came to a reader that stood still for 45 s"

    yield case("still: an answer that is not read", unread, finding="F5", long=True)

    def pipelined(collector):
        with collector.connection(head("Host: localhost\r\n", path="/hosts") * 2000) as connection:
            connection.settimeout(5)
            assert connection.recv(12) == b"HTTP/1.1 200"
            collector.still_serves()

    yield case("still: 2000 requests at once that nobody reads", pipelined)


CASES = [*heads(), *paths(), *bodies(), *tokens(), *still()]

"""A far end in this process, for tests and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

from . import _text, _trunkline
from ._call import Call
from ._text import File, Rate, Time
from ._trunkline import Progress


class Server:
    """A server that runs until it is closed, or its `with` block is over."""

    def __init__(self, core: _trunkline.Server) -> None:
        """For `serve`."""
        self._core = core
        self._call: Call[None] = Call(core.call, lambda _: None)

    @property
    def address(self) -> str:
        """The address and the port that it listens on, as `ADDRESS:PORT`."""
        return self._core.address

    @property
    def port(self) -> int:
        """The port, in TCP and UDP."""
        return self._core.port

    @property
    def copies(self) -> int:
        """Copies that run now."""
        return self._core.copies

    def place(self, path: str = "") -> str:
        """The name of a file or folder of its root, for `copy` from this host."""
        return f"trunkline://127.0.0.1:{self.port}/{path.lstrip('/')}"

    def events(self) -> Iterator[Progress]:
        """What happens at the server, until it is closed."""
        return iter(self._call)

    def reread(self) -> None:
        """Reads the tokens file again; copies that run go on."""
        self._core.reread()

    def close(self) -> None:
        """Ends it; copies that run are broken off, and go on with another server."""
        self._call.cancel()
        self._call.result()

    def __enter__(self) -> Server:
        """The server."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()

    def __repr__(self) -> str:
        """Where it listens."""
        return f"<Server on {self.address}>"


def serve(
    *,
    ipv4: bool = False,
    ipv6: bool = False,
    bind: str | None = "127.0.0.1",
    port: int = 0,
    clients: int = 64,
    clients_per_address: int = 16,
    test_time_max: Time | None = None,
    test_rate_max: Rate | None = None,
    iperf3_users: File | None = None,
    iperf3_key: File | None = None,
    iperf3_skew: Time = 10,
    iperf3_padding: Literal["oaep", "pkcs1"] = "oaep",
    files_only: bool = False,
    root: File | None = None,
    tokens: File | None = None,
    copies: int = 64,
    copies_per_token: int = 8,
    copies_streams: int | None = None,
    copies_rate: Rate | None = None,
    no_delete: bool = False,
    verbose: bool = False,
    no_links: bool = False,
    no_plain: bool = False,
    read_only: bool = False,
    write_only: bool = False,
) -> Server:
    """Is the far end, for any number of trunkline and iperf3 clients, until it is closed.

    Other than the program, it listens on this host alone and on any free port unless told
    otherwise.

    Args:
        ipv4: Only over IPv4.
        ipv6: Only over IPv6; needs another `bind`.
        bind: The address, the device, or both to listen on: `"192.0.2.7"`, `"%eth1"`,
            `"192.0.2.7%eth1"`; `None` for all of them.
        port: TCP port, and UDP port of the echo service; 0 takes any free one.
        clients: Tests at the same time.
        clients_per_address: Tests at the same time from one address.
        test_time_max: Longest test.
        test_rate_max: Highest rate of a test over all its streams.
        iperf3_users: Let in the users of this file alone, to tests and trains: lines `NAME,HASH`
            as those of iperf3, with the SHA-256 of `{NAME}PASSWORD`.
        iperf3_key: The private RSA key that logins are encrypted for, in PEM form.
        iperf3_skew: How far the time of a login may be from the clock here.
        iperf3_padding: How logins are padded; `"pkcs1"` for clients of iperf3 before 3.17.
        files_only: Serve copies alone.
        root: Serve files too: those below this folder, and nothing outside it.
        tokens: The file with the tokens that open the root; see `add_token`.
        copies: Copies at the same time; one more waits for its turn.
        copies_per_token: Copies at the same time with one token, where its line in the file does
            not say another number.
        copies_streams: Streams of all copies together.
        copies_rate: Rate of all copies together, of what is received and of what is sent.
        no_delete: Remove nothing at the wish of a copy.
        verbose: Tell of each file in `events()`.
        no_links: Take no links.
        no_plain: Take no copies whose data is not encrypted.
        read_only: Files may only be taken away.
        write_only: Files may only be put there.
    """
    asked = {
        "ipv4": ipv4,
        "ipv6": ipv6,
        "bind": bind,
        "port": port,
        "clients": clients,
        "clients_per_address": clients_per_address,
        "test_time_max": _text.optional_span(test_time_max),
        "test_rate_max": _text.rate(test_rate_max),
        "iperf3_users": None if iperf3_users is None else os.fspath(iperf3_users),
        "iperf3_key": None if iperf3_key is None else os.fspath(iperf3_key),
        "iperf3_skew": _text.span(iperf3_skew),
        "iperf3_padding": iperf3_padding,
        "files_only": files_only,
        "root": None if root is None else os.fspath(root),
        "tokens": None if tokens is None else os.fspath(tokens),
        "copies": copies,
        "copies_per_token": copies_per_token,
        "copies_streams": copies_streams,
        "copies_rate": _text.rate(copies_rate),
        "no_delete": no_delete,
        "no_links": no_links,
        "no_plain": no_plain,
        "read_only": read_only,
        "write_only": write_only,
        "verbose": verbose,
        "command": "trunkline.serve()",
    }
    return Server(_trunkline.Server.start(asked))


def add_token(
    file: File, name: str, *, read_only: bool = False, write_only: bool = False
) -> str:
    """Makes a token, adds it to the tokens file of a server, and gives it.

    Args:
        file: The tokens file; made where there is none.
        name: Who the token is for.
        read_only: It lets files be taken away only.
        write_only: It lets files be put there only.
    """
    return _trunkline.add_token(os.fspath(file), name, read_only, write_only)

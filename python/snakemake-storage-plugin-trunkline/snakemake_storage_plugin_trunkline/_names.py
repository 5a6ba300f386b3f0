"""Queries: `trunkline://HOST[:PORT]/PATH`, each name in one spelling."""

from __future__ import annotations

import re
from urllib.parse import unquote

SCHEME = "trunkline://"
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^:/\[\]@]+)(:[0-9]{1,5})?")
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
# What stands for itself only when it is escaped: wildcards have braces.
_ESCAPED = {"%": "%25", "{": "%7B", "}": "%7D"}


def why_invalid(query: str) -> str | None:
    """What is wrong with a query, and what to write instead."""
    if not query.startswith(SCHEME):
        return f"it does not begin with {SCHEME}"
    authority, _, path = query[len(SCHEME) :].partition("/")
    if not _AUTHORITY.fullmatch(authority):
        return f"`{authority}` is not HOST or HOST:PORT: write {SCHEME}HOST/PATH"
    if not path.strip("/"):
        return f"it names no file: write {SCHEME}{authority}/PATH"
    if re.search("%(?![0-9A-Fa-f]{2})", path):
        return "a % is not followed by two hexadecimal digits: write %25 for a percent sign"
    if any(part in (".", "..") for part in unquote(path).split("/")):
        return "it has `.` or `..` as a part: write the name without"
    return None


def escaped(name: str) -> str:
    """A name of the server as it stands in a query."""
    return re.sub("[%{}]", lambda one: _ESCAPED[one[0]], name)


def canonical(query: str) -> str:
    """The query in the one spelling that local names follow from."""
    authority, _, path = query[len(SCHEME) :].partition("/")

    def plain(escapes: re.Match[str]) -> str:
        return escaped(unquote(escapes[0], errors="surrogateescape"))

    path = re.sub("/+", "/", _ESCAPES.sub(plain, path)).strip("/")
    return f"{SCHEME}{authority}/{path}"


def remote(query: str) -> str:
    """The name at the server, absolute below the folder of the token."""
    path = query[len(SCHEME) :].partition("/")[2]
    return "/" + unquote(path, errors="surrogateescape")

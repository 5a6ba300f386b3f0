#!/usr/bin/env python3
"""What packages of this workspace are made of, from `cargo metadata`.

    parts.py bom PACKAGE         a bill of materials (CycloneDX 1.5)
    parts.py notice PACKAGE...   the licences of all libraries, as a page

Only crates that are linked count: neither tests nor build scripts. A crate without a licence text
of its own gets its licence's name; one without a licence ends the script.
"""

import html
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
ARCHS = ("x86_64", "aarch64")
TARGETS = [f"{arch}-unknown-linux-{libc}" for arch in ARCHS for libc in ("gnu", "musl")]
TEXTS = ("LICENSE", "LICENCE", "NOTICE", "COPYRIGHT", "UNLICENSE")


def metadata():
    filters = [f"--filter-platform={target}" for target in TARGETS]
    command = ["cargo", "metadata", "--format-version=1", "--locked", *filters]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def linked(graph, names):
    """The packages of these names, and all others that they link; both sorted."""
    packages = {package["id"]: package for package in graph["packages"]}
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    roots = [id for id, package in packages.items() if package["name"] in names]
    seen, waiting = set(), list(roots)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for dependency in nodes[node]["deps"]:
            kinds = [kind["kind"] for kind in dependency["dep_kinds"]]
            if None in kinds and not is_macro(packages[dependency["pkg"]]):
                waiting.append(dependency["pkg"])
    return in_order(packages, roots), in_order(packages, seen.difference(roots))


def in_order(packages, ids):
    return sorted((packages[id] for id in ids), key=lambda one: (one["name"], one["version"]))


def is_macro(package):
    """Procedural macros run in the compiler."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def licence(package):
    if not package["license"]:
        sys.exit(f"{package['name']} {package['version']} names no licence; add its text by hand")
    return package["license"].replace("/", " OR ")


def component(package, kind):
    name, version = package["name"], package["version"]
    entry = {
        "type": kind,
        "bom-ref": f"{name}@{version}",
        "name": name,
        "version": version,
        "licenses": [{"expression": licence(package)}],
    }
    if package["source"]:
        entry["purl"] = f"pkg:cargo/{name}@{version}"
    return entry


def bill(program, others):
    made = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(program, "application")},
        "components": [component(package, "library") for package in others],
    }
    return json.dumps(made, indent=1)


def texts(package):
    """The licence texts beside a crate's manifest, and of C libraries one folder below."""
    folder = pathlib.Path(package["manifest_path"]).parent
    places = [*folder.iterdir(), *folder.glob("*/*")]
    files = sorted(file for file in places if file.name.upper().startswith(TEXTS))
    return [file.read_text(errors="replace").strip() for file in files if file.is_file()]


def standard_library():
    """The notices of Rust's standard library, as the toolchain brings them."""
    sysroot = subprocess.check_output(["rustc", "--print", "sysroot"], text=True).strip()
    page = pathlib.Path(sysroot, "share/doc/rust/COPYRIGHT-library.html")
    if not page.exists():
        return "See MIT OR Apache-2.0."
    plain = html.unescape(re.sub(r"<[^>]*>", "", page.read_text()))
    return "\n".join(line.rstrip() for line in plain.splitlines() if line.strip())


def c_library():
    """The notice of musl, which is linked where zig is the linker: in the Python that has it."""
    zig = importlib.util.find_spec("ziglang")
    folder = pathlib.Path(zig.origin).parent if zig else None
    return folder and (folder / "lib/libc/musl/COPYRIGHT").read_text().strip()


def notice(others):
    """One section for each text, with what brings it."""
    users = {standard_library(): ["Rust's standard library (MIT OR Apache-2.0)"]}
    if musl := c_library():
        users[musl] = ["musl (MIT)"]
    for package in others:
        if package["source"]:
            name = f"{package['name']} {package['version']} ({licence(package)})"
            for text in texts(package) or [f"See {licence(package)}."]:
                users.setdefault(text, []).append(name)
    page = ["# Licences of the libraries in trunkline", ""]
    page += ["trunkline itself is under Apache-2.0. Its binaries also contain these libraries."]
    for text, names in sorted(users.items(), key=lambda entry: entry[1]):
        page += ["", "## " + ", ".join(names), "", "```text", text, "```"]
    return "\n".join(page)


def main():
    what, *names = sys.argv[1:]
    roots, others = linked(metadata(), names)
    print(bill(roots[0], others) if what == "bom" else notice(others))


main()

//! Files of a crate that use each other in a circle: none can be read without all the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{files, folder, order};

/// Files in circles that are left, by crate. They only get fewer.
const LEFT: [(&str, usize); 5] = [
    ("cli", 5),
    ("inference", 2),
    ("transfer", 3),
    ("tune", 10),
    ("watch_plan", 2),
];

/// The segments of a module's path.
type Module = Vec<String>;
type Modules = BTreeMap<Module, String>;

#[test]
fn files_of_a_crate_use_each_other_in_no_circle() {
    for name in order() {
        let circles = circles(&modules(&folder(name).join("src")));
        let count: usize = circles.iter().map(Vec::len).sum();
        let left = LEFT.iter().find(|(known, _)| *known == name);
        let allowed = left.map_or(0, |(_, count)| *count);
        assert!(
            count <= allowed,
            "{name}: {count} files in circles, {allowed} allowed; move what two files share into \
             a third: {circles:?}"
        );
    }
}

/// The modules of a crate without their tests and comments.
fn modules(source: &Path) -> Modules {
    let mut modules = Modules::new();
    for (file, text) in files(source, "rs") {
        let place = file.strip_prefix(source).unwrap().with_extension("");
        let mut module: Module = place
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        if module == ["lib"] || module == ["main"] {
            module.clear();
        }
        if !module.iter().any(|part| part == "tests") {
            let code = text
                .split("#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            let lines = code
                .lines()
                .map(|line| line.split("//").next().unwrap_or_default());
            modules.insert(module, lines.collect::<Vec<_>>().join("\n"));
        }
    }
    modules
}

/// The paths that `use` items name, each whole; of those that are passed on alone with `passed_on`.
fn used(code: &str, passed_on: bool) -> Vec<Module> {
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].rsplit('\n').next().unwrap_or_default().trim();
        let is_item = before.is_empty() || before.starts_with("pub");
        if is_item && (!passed_on || before.starts_with("pub")) {
            let tree = code[at + 4..].split(';').next().unwrap_or_default();
            spread(
                &tree.split_whitespace().collect::<Vec<_>>().join(" "),
                &[],
                &mut paths,
            );
        }
    }
    paths
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn spread(tree: &str, head: &[String], paths: &mut Vec<Module>) {
    let parts = |text: &str| -> Module {
        let text = text.split(" as ").next().unwrap_or_default();
        let parts = text.split("::").map(|part| part.trim().to_owned());
        parts
            .filter(|part| !part.is_empty() && part != "self")
            .collect()
    };
    let Some((before, rest)) = tree.split_once('{') else {
        paths.push([head, &parts(tree)].concat());
        return;
    };
    let head = [head, &parts(before)].concat();
    let body = rest.rsplit_once('}').map_or(rest, |(body, _)| body);
    let (mut depth, mut from) = (0, 0);
    for (at, sign) in body.char_indices().chain([(body.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !body[from..at].trim().is_empty() {
                    spread(&body[from..at], &head, paths);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// The module that a path of `from` leads to, and what is named of it; `None` outside the crate.
fn target(modules: &Modules, from: &Module, path: &[String]) -> Option<(Module, Module)> {
    let (mut base, mut rest) = (from.clone(), path);
    match path.first().map(String::as_str) {
        Some("crate") => (base, rest) = (Module::new(), &path[1..]),
        Some("super") => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        _ if !modules.contains_key(&[&base[..], &path[..1]].concat()) => return None,
        _ => {}
    }
    let longest = (0..=rest.len()).rev();
    let found = longest.map(|length| ([&base[..], &rest[..length]].concat(), &rest[length..]));
    let mut found = found.filter(|(module, _)| modules.contains_key(module));
    found.next().map(|(module, named)| (module, named.to_vec()))
}

/// The modules that each one uses, through those that pass a name on.
fn edges(modules: &Modules) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, code) in modules {
        for path in used(code, false) {
            let is_own = matches!(path.first().map(String::as_str), Some("crate" | "super"));
            let Some((to, named)) = target(modules, module, &path).filter(|_| is_own) else {
                continue;
            };
            let passed_on = used(&modules[&to], true).into_iter();
            let mut passed_on = passed_on.filter(|other| other.last() == named.first());
            let beyond = passed_on.find_map(|other| target(modules, &to, &other));
            let to = beyond.map_or(to, |(beyond, _)| beyond);
            if to != *module {
                edges.entry(module.clone()).or_default().insert(to);
            }
        }
    }
    edges
}

/// All that a module reaches.
fn reached(edges: &BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = next.pop() {
        for to in edges.get(&module).into_iter().flatten() {
            if reached.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    reached
}

fn circles(modules: &Modules) -> Vec<Vec<String>> {
    let edges = edges(modules);
    let all: BTreeMap<&Module, BTreeSet<Module>> = modules
        .keys()
        .map(|module| (module, reached(&edges, module)))
        .collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (module, reached) in &all {
        if reached.contains(*module) {
            let members = all
                .iter()
                .filter(|(other, back)| reached.contains(**other) && back.contains(*module));
            circles.insert(members.map(|(other, _)| other.join("::")).collect());
        }
    }
    circles.into_iter().collect()
}

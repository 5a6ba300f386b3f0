//! Which far names the user's words stand for: no shell there does that.

use copy_protocol::sftp::Request;
use copy_protocol::{Problem, ProblemKind};
use files::source::select::{Pattern, has_wildcard};
use files::{problem, shown, with_hint};

use super::failure::refused;
use super::far_name::join;
use super::folders::{self, Heard};
use super::talk::{Halt, Talk, is_missing};

/// Replaces each path with wildcards by what it stands for, in order; one that is there as it is
/// written stays.
///
/// * `is_strict`: a folder that cannot be listed ends the copy. Otherwise it has nothing that fits.
pub(super) fn expand(
    talk: &mut Talk,
    paths: &[Vec<u8>],
    is_strict: bool,
    heard: &mut Heard,
) -> Result<Vec<Vec<u8>>, Halt> {
    let mut all = Vec::new();
    for path in paths {
        if !has_wildcard(path) || !is_missing(&talk.ask(Request::LStat(path))?) {
            all.push(path.clone());
            continue;
        }
        let matching = matches(talk, path, is_strict, heard)?;
        if matching.is_empty() {
            let what = format!("`{}` stands for nothing", shown(path));
            let hint = "see what is there with a wider pattern and `--dry-run`";
            return Err(with_hint(problem(ProblemKind::NotFound, what), hint).into());
        }
        all.extend(matching);
    }
    Ok(all)
}

fn matches(
    talk: &mut Talk,
    path: &[u8],
    is_strict: bool,
    heard: &mut Heard,
) -> Result<Vec<Vec<u8>>, Halt> {
    let components = path.split(|byte| *byte == b'/');
    let components: Vec<&[u8]> = components.filter(|one| !one.is_empty()).collect();
    let mut behind = components.iter().skip_while(|one| !has_wildcard(one));
    if behind.any(|one| matches!(*one, b"." | b"..")) {
        return Err(up_and_down(path).into());
    }
    let start = if path.starts_with(b"/") {
        &b"/"[..]
    } else {
        b""
    };
    let mut found = vec![start.to_vec()];
    for component in components {
        found = below(talk, &found, component, is_strict, heard)?;
    }
    if path.ends_with(b"/") {
        found.iter_mut().for_each(|path| path.push(b'/'));
    }
    Ok(found)
}

/// What the component stands for in each of the folders.
fn below(
    talk: &mut Talk,
    folders: &[Vec<u8>],
    component: &[u8],
    is_strict: bool,
    heard: &mut Heard,
) -> Result<Vec<Vec<u8>>, Halt> {
    if !has_wildcard(component) {
        let joined: Vec<_> = folders.iter().map(|it| join(it, component)).collect();
        let looks: Vec<_> = joined.iter().map(|it| Request::LStat(it)).collect();
        let looked = talk.ask_all(&looks)?;
        let there = joined.iter().zip(looked);
        let there = there.filter(|(_, reply)| !is_missing(reply));
        return Ok(there.map(|(path, _)| path.clone()).collect());
    }
    let pattern = Pattern::new(component)?;
    let named = |folder: &Vec<u8>| match folder.is_empty() {
        true => b".".to_vec(),
        false => folder.clone(),
    };
    let named: Vec<Vec<u8>> = folders.iter().map(named).collect();
    let lists = folders::read(talk, &named, heard)?;
    let mut found = Vec::new();
    for (folder, list) in folders.iter().zip(lists) {
        let list = match list {
            Ok(list) => list,
            Err(reply) if is_strict && !is_missing(&reply) => {
                return Err(refused("list", folder, &reply).into());
            }
            // One that is no folder has nothing that fits.
            Err(_) => continue,
        };
        for one in list {
            if pattern.is_match(&one.name) {
                found.push(join(folder, &one.name));
            }
        }
    }
    Ok(found)
}

fn up_and_down(path: &[u8]) -> Problem {
    let what = format!("`{}` has `.` or `..` behind a wildcard", shown(path));
    with_hint(
        problem(ProblemKind::Request, what),
        "name the folder first, and then the wildcard",
    )
}

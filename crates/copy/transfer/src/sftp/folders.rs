//! Names in folders of the far end. A server may say anything: names that are none end the copy,
//! and so do more of them than a copy may have.

use copy_protocol::sftp::{Listed, Reply, Request, StatusCode};
use copy_protocol::{NAME_MAX, NAMES_MAX, Problem, ProblemKind};
use files::{problem, shown, with_hint};

use super::talk::{Halt, Talk, has_code, open_max};

/// Most folders that are read at the same time.
const AT_ONCE: usize = 128;
/// Requests for names of one folder that are on the way: the reply to each has about a hundred.
const AHEAD: usize = 4;

/// Bytes of names so far.
#[derive(Debug, Default)]
pub(super) struct Heard(usize);

impl Heard {
    pub fn add(&mut self, bytes: usize) -> Result<(), Problem> {
        // What a name takes beside its bytes.
        self.0 = self.0.saturating_add(bytes + 8);
        match self.0 > NAMES_MAX {
            false => Ok(()),
            true => {
                let what = format!("the far end lists more than {NAMES_MAX} bytes of names");
                let hint = "copy parts of it, one after the other";
                Err(with_hint(problem(ProblemKind::Request, what), hint))
            }
        }
    }
}

/// The names in each folder, in the order of their bytes; the reply where one cannot be read.
pub(super) fn read(
    talk: &mut Talk,
    folders: &[Vec<u8>],
    heard: &mut Heard,
) -> Result<Vec<Result<Vec<Listed>, Reply>>, Halt> {
    let mut all = Vec::with_capacity(folders.len());
    for some in folders.chunks(open_max(&talk.channel).min(AT_ONCE)) {
        all.extend(read_some(talk, some, heard)?);
    }
    Ok(all)
}

fn read_some(
    talk: &mut Talk,
    folders: &[Vec<u8>],
    heard: &mut Heard,
) -> Result<Vec<Result<Vec<Listed>, Reply>>, Halt> {
    let opens: Vec<_> = folders.iter().map(|it| Request::OpenFolder(it)).collect();
    let opened = talk.ask_all(&opens)?;
    let mut lists: Vec<Result<Vec<Listed>, Reply>> = Vec::new();
    let mut handles: Vec<(usize, Vec<u8>)> = Vec::new();
    for (at, reply) in opened.into_iter().enumerate() {
        lists.push(match reply {
            Reply::Handle(handle) => {
                handles.push((at, handle));
                Ok(Vec::new())
            }
            other => Err(other),
        });
    }
    let closes: Vec<Vec<u8>> = handles.iter().map(|(_, handle)| handle.clone()).collect();
    while !handles.is_empty() {
        handles = read_more(talk, handles, &mut lists, heard)?;
    }
    for handle in &closes {
        talk.channel.send_unheard(&Request::Close(handle));
    }
    for list in lists.iter_mut().flatten() {
        list.sort_by(|one, other| one.name.cmp(&other.name));
        list.dedup_by(|one, other| one.name == other.name);
    }
    Ok(lists)
}

/// Asks for some more names of each; returns the folders that have not ended.
fn read_more(
    talk: &mut Talk,
    handles: Vec<(usize, Vec<u8>)>,
    lists: &mut [Result<Vec<Listed>, Reply>],
    heard: &mut Heard,
) -> Result<Vec<(usize, Vec<u8>)>, Halt> {
    let asked = handles.iter().flat_map(|it| std::iter::repeat_n(it, AHEAD));
    let asked: Vec<_> = asked.collect();
    let requests: Vec<_> = asked.iter().map(|it| Request::ReadFolder(&it.1)).collect();
    let replies = talk.ask_all(&requests)?;
    let mut ended = vec![false; lists.len()];
    for ((at, _), reply) in asked.iter().zip(replies) {
        let Some(list) = lists.get_mut(*at) else {
            continue;
        };
        match (reply, &mut *list) {
            (Reply::Names(names), Ok(list)) if !names.is_empty() => {
                for one in names {
                    // What is left out counts, too: else a listing of nothing else has no end.
                    heard.add(one.name.len())?;
                    if check(&one.name)? {
                        list.push(one);
                    }
                }
            }
            (reply, list) => {
                if !has_code(&reply, StatusCode::End) && list.is_ok() && !ended[*at] {
                    *list = Err(reply);
                }
                ended[*at] = true;
            }
        }
    }
    let goes_on = |(at, _): &(usize, Vec<u8>)| !ended[*at];
    Ok(handles.into_iter().filter(goes_on).collect())
}

/// Whether it is the name of something in the folder, and not of the folder itself.
fn check(name: &[u8]) -> Result<bool, Problem> {
    let is_wrong = name.is_empty() || name.len() > NAME_MAX;
    match name {
        b"." | b".." => Ok(false),
        _ if is_wrong || name.contains(&b'/') || name.contains(&0) => {
            let start = name.get(..NAME_MAX).unwrap_or(name);
            let what = format!(
                "the far end lists `{}`, which is no name in a folder",
                shown(start)
            );
            let hint = "nothing of that name was written; the far end is broken or means harm: \
                look at who runs it";
            Err(with_hint(problem(ProblemKind::Protocol, what), hint))
        }
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [&b"a/b"[..], b"/etc", b"", b"a\0b", &[b'x'; 300]] {
            assert_eq!(check(name).unwrap_err().kind, ProblemKind::Protocol);
        }
        assert_eq!(check(b".."), Ok(false));
        assert_eq!(check(b"..."), Ok(true));
    }

    #[test]
    fn names_without_end_are_bounded() {
        let mut heard = Heard::default();
        let count = (0..).take_while(|_| heard.add(100).is_ok()).count();
        assert!(count < 1_000_000, "{count}");
    }
}

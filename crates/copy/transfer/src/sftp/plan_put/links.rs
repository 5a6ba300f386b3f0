//! Symbolic links at the far end.

use copy_protocol::sftp::{FarKind, Reply, Request, Stat};
use copy_protocol::{Entry, Filter, Kind};
use units::Bytes;

use super::super::failure::refused;
use super::super::far_name::{link, seconds};
use super::super::talk::{Halt, is_ok};
use super::{Planner, in_the_way};

/// A link that is to be made.
struct ToMake {
    entry: Entry,
    path: Vec<u8>,
    text: Vec<u8>,
    /// Something is there that it replaces.
    replaces: bool,
}

impl Planner<'_, '_> {
    /// Makes links, and leaves those that say the same.
    pub(super) fn make_links(&mut self, links: Vec<(Entry, Option<Stat>)>) -> Result<(), Halt> {
        let (mut to_make, mut to_date) = (Vec::new(), Vec::new());
        for (entry, there) in links {
            let Kind::Link(text) = entry.kind.clone() else {
                continue;
            };
            let path = self.path(&entry);
            let kind = there
                .as_ref()
                .map(|stat| stat.kind().unwrap_or(FarKind::File));
            match (kind, self.options.filter) {
                (Some(FarKind::File | FarKind::Link), Filter::Missing) => continue,
                (Some(kind @ (FarKind::Folder | FarKind::Special(_))), _) => {
                    let problem = in_the_way(&path, kind, "a link");
                    self.stats.on_failed(Some(&entry), problem);
                    continue;
                }
                (Some(FarKind::Link), filter) if filter != Filter::All => {
                    let reply = self.talk.ask(Request::ReadLink(&path))?;
                    if matches!(&reply, Reply::Names(names) if says(names, &text)) {
                        let modified = seconds(&entry);
                        // A copy that was killed may have left it without its time.
                        if there.and_then(|stat| stat.modified()) != Some(modified) {
                            to_date.push((path, modified));
                        }
                        continue;
                    }
                }
                _ => {}
            }
            if self.options.dry_run {
                self.stats.on_would_copy(&entry, Bytes::ZERO);
                continue;
            }
            to_make.push(ToMake {
                replaces: kind.is_some(),
                entry,
                path,
                text,
            });
        }
        self.make(&to_make)?;
        let to_date = to_date.iter().map(|(path, at)| (path.as_slice(), *at));
        self.date(&to_date.collect::<Vec<_>>())
    }

    /// Gives links their times, where the server can. A link without is none the worse.
    fn date(&mut self, links: &[(&[u8], u32)]) -> Result<(), Halt> {
        let may_set = self.options.attributes.times && !self.options.dry_run;
        if links.is_empty() || !may_set || !self.talk.channel.server().lsetstat {
            return Ok(());
        }
        let requests: Vec<_> = links
            .iter()
            .map(|(path, at)| with_time(path, *at))
            .collect();
        self.talk.ask_all(&requests)?;
        Ok(())
    }

    fn make(&mut self, links: &[ToMake]) -> Result<(), Halt> {
        let server = self.talk.channel.server();
        let beside: Vec<_> = links
            .iter()
            .map(|it| link(&it.path, self.journal.number))
            .collect();
        let mut requests = Vec::new();
        let mut last_of_each = Vec::new();
        for (one, beside) in links.iter().zip(&beside) {
            match (one.replaces, server.posix_rename) {
                (false, _) => requests.push(Request::MakeLink(&one.text, &one.path)),
                (true, false) => {
                    requests.push(Request::Remove(&one.path));
                    requests.push(Request::MakeLink(&one.text, &one.path));
                }
                (true, true) => {
                    requests.push(Request::Remove(beside));
                    requests.push(Request::MakeLink(&one.text, beside));
                    requests.push(Request::PosixRename(beside, &one.path));
                }
            }
            last_of_each.push(requests.len() - 1);
        }
        let replies = self.talk.ask_all(&requests)?;
        let mut times = Vec::new();
        for (one, at) in links.iter().zip(last_of_each) {
            match replies.get(at) {
                Some(reply) if is_ok(reply) => {
                    self.stats.on_published(&one.entry, None);
                    times.push((one.path.as_slice(), seconds(&one.entry)));
                }
                Some(reply) => {
                    let problem = refused("make", &one.path, reply);
                    self.stats.on_failed(Some(&one.entry), problem);
                }
                None => {}
            }
        }
        self.date(&times)
    }
}

fn with_time(path: &[u8], modified: u32) -> Request<'_> {
    let stat = Stat {
        times: Some((modified, modified)),
        ..Stat::default()
    };
    Request::LSetStat(path, stat)
}

fn says(names: &[copy_protocol::sftp::Listed], text: &[u8]) -> bool {
    names.first().is_some_and(|one| one.name == text)
}

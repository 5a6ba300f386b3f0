//! Symbolic links at the far end.

use copy_protocol::sftp::{FarKind, Reply, Request, Stat};
use copy_protocol::{Entry, Filter, Kind};
use units::Bytes;

use super::super::failure::refused;
use super::super::far_name::{link, seconds};
use super::super::talk::{Halt, is_ok};
use super::{Planner, in_the_way};

/// Links that are read together: a server may answer each with a whole packet.
const TOGETHER: usize = 256;

/// A link that is to be made.
struct ToMake {
    entry: Entry,
    path: Vec<u8>,
    text: Vec<u8>,
    /// What it replaces.
    there: Option<Stat>,
    /// That is a link, which is left where it says the same.
    may_stay: bool,
}

impl Planner<'_, '_> {
    /// Makes links, and leaves those that say the same.
    pub(super) fn make_links(&mut self, links: Vec<(Entry, Option<Stat>)>) -> Result<(), Halt> {
        let links = links.into_iter();
        let links: Vec<ToMake> = links
            .filter_map(|(entry, it)| self.wanted(entry, it))
            .collect();
        let stay = self.stay(&links)?;
        let (mut to_make, mut to_date) = (Vec::new(), Vec::new());
        for (one, stays) in links.into_iter().zip(stay) {
            if stays {
                let modified = seconds(&one.entry);
                // A copy that was killed may have left it without its time.
                if one.there.and_then(|stat| stat.modified()) != Some(modified) {
                    to_date.push((one.path, modified));
                }
            } else if self.options.dry_run {
                self.stats.on_would_copy(&one.entry, Bytes::ZERO);
            } else {
                to_make.push(one);
            }
        }
        self.make(&to_make)?;
        let to_date = to_date.iter().map(|(path, at)| (path.as_slice(), *at));
        self.date(&to_date.collect::<Vec<_>>())
    }

    /// A link, where there is something to do.
    fn wanted(&mut self, entry: Entry, there: Option<Stat>) -> Option<ToMake> {
        let Kind::Link(text) = entry.kind.clone() else {
            return None;
        };
        let path = self.path(&entry);
        let kind = there
            .as_ref()
            .map(|stat| stat.kind().unwrap_or(FarKind::File));
        match (kind, self.options.filter) {
            (Some(FarKind::File | FarKind::Link), Filter::Missing) => return None,
            (Some(kind @ (FarKind::Folder | FarKind::Special(_))), _) => {
                let problem = in_the_way(&path, kind, "a link");
                self.stats.on_failed(Some(&entry), problem);
                return None;
            }
            _ => {}
        }
        Some(ToMake {
            may_stay: kind == Some(FarKind::Link) && self.options.filter != Filter::All,
            entry,
            path,
            text,
            there,
        })
    }

    /// Which of them are there and say the same.
    fn stay(&mut self, links: &[ToMake]) -> Result<Vec<bool>, Halt> {
        let mut stay = Vec::with_capacity(links.len());
        for some in links.chunks(TOGETHER) {
            let asked = some.iter().filter(|one| one.may_stay);
            let requests: Vec<_> = asked.map(|one| Request::ReadLink(&one.path)).collect();
            let mut replies = self.talk.ask_all(&requests)?.into_iter();
            stay.extend(some.iter().map(|one| {
                let reply = if one.may_stay { replies.next() } else { None };
                matches!(&reply, Some(Reply::Names(names)) if says(names, &one.text))
            }));
        }
        Ok(stay)
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
            match (one.there.is_some(), server.posix_rename) {
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

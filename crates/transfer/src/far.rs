//! The far end: is told what is wanted, and does its half.

use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Queue, Sender as Report};
use std::thread;

use wire::copying::{Message, Opening, Way};

use crate::chronicle::Chronicle;
use crate::copy::STREAMS_DEFAULT;
use crate::inner::net::{Came, accept, converse};
use crate::inner::source::Walk;
use crate::inner::store::Store;
use crate::lines::{Lines, Roster};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::session::{Desk, End, Happening, Role, happenings, lead, protocol};

/// Serves one copy below `root` and returns.
pub fn serve_once(listener: &TcpListener, root: &Path) -> std::io::Result<()> {
    let Came::Control(socket) = accept(listener)? else {
        return Err(std::io::Error::other("a stream without a conversation"));
    };
    let (report, happenings) = happenings();
    let outbox = converse(socket, report.clone())?;
    let acceptor = listener.try_clone()?;
    let streams = report.clone();
    thread::spawn(move || {
        while let Ok(came) = accept(&acceptor) {
            if let Came::Stream(_, number, channel) = came
                && streams.send(Happening::Joined(number, channel)).is_err()
            {
                return;
            }
        }
    });
    let end = answer(root, outbox, report, &happenings);
    match end {
        End::Done => Ok(()),
        other => Err(std::io::Error::other(format!("{other:?}"))),
    }
}

fn answer(
    root: &Path,
    outbox: crate::inner::net::Outbox,
    report: Report<Happening>,
    happenings: &Queue<Happening>,
) -> End {
    let opening = match happenings.recv() {
        Ok(Happening::Message(Message::Open(opening))) => opening,
        _ => return protocol("no opening".to_owned()),
    };
    let mut nobody = ();
    let mut chronicle = Chronicle::new(&mut nobody);
    let began = chronicle.began();
    let desk = Desk {
        outbox,
        report,
        began,
    };
    let place =
        |path: &Vec<u8>| -> PathBuf { root.join(Path::new(std::ffi::OsStr::from_bytes(path))) };
    let roster = Roster::new(Lines::Ask);
    let paths: Vec<PathBuf> = opening.paths.iter().map(place).collect();
    match opening.way {
        Way::Put => {
            let root = paths.first().cloned().unwrap_or_default();
            desk.say(Message::Opened {
                session: 1,
                fresh: !root.exists(),
            });
            let mut receiver = Receiver::new(&mut chronicle, Store::new(root), roster);
            lead(&mut receiver, &desk, happenings, &|| false)
        }
        Way::Get => get(&opening, &paths, &mut chronicle, roster, &desk, happenings),
    }
}

fn get(
    opening: &Opening,
    paths: &[PathBuf],
    chronicle: &mut Chronicle<'_>,
    roster: Roster,
    desk: &Desk,
    happenings: &Queue<Happening>,
) -> End {
    desk.say(Message::Opened {
        session: 1,
        fresh: false,
    });
    let walk = Walk::new(paths, paths.len() > 1, opening.recursive);
    let streams = opening.streams.unwrap_or(STREAMS_DEFAULT);
    let mut sender = Sender::new(chronicle, walk, roster, streams, false);
    sender.start(desk);
    lead(&mut sender, desk, happenings, &|| false)
}

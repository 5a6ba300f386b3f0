//! One request after the other on one connection.

use std::sync::atomic::Ordering;

use copy_net::Channel;
use copy_protocol::remote::{Answering, Ask, Failure, FailureKind, RequestFrames, Told};

use super::list::list;
use super::names::{check_free, info, make_folder};
use super::outbox::{Content, Gone, Outbox, hear};
use super::put::put;
use super::read::{Range, read};
use super::remove::remove;
use super::rename::rename;
use super::rights;
use super::session::Session;

/// Answers the requests of one connection until it is over.
pub(super) fn serve(channel: &mut Channel, session: &Session<'_>) -> Gone {
    let mut rules = Answering::default();
    let mut frames = RequestFrames::default();
    let mut buffer = Vec::new();
    let mut input = [0; 4096];
    loop {
        let got = match hear(channel, &mut input, session, frames.is_within()) {
            Ok(got) => got,
            Err(gone) => return gone,
        };
        let mut rest = input.get(..got).unwrap_or_default();
        loop {
            let mut outbox = Outbox {
                channel,
                session,
                id: 0,
            };
            let request = match frames.next(&mut rest) {
                Ok(Some(request)) => request,
                Ok(None) => break,
                Err(error) => return outbox.refuse(error.to_string()),
            };
            outbox.id = request.id;
            if let Err(broken) = rules.on_request(&request) {
                return outbox.refuse(broken.to_string());
            }
            let content = Content::of(&request.ask, &mut rest);
            if let Err(gone) = answer(&request.ask, content, &mut buffer, &mut outbox) {
                return gone;
            }
        }
    }
}

fn answer(
    ask: &Ask,
    mut content: Content<'_, '_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<(), Gone> {
    let session = outbox.session;
    session.requests.fetch_add(1, Ordering::Relaxed);
    let allowed = match session.is_taken_back() {
        true => return Err(taken_back(outbox)),
        false => rights::check(session.root, ask),
    };
    let done = match allowed {
        Ok(()) => carry_out(ask, &mut content, buffer, outbox)?,
        Err(failure) => Err(failure),
    };
    content.skip(buffer, outbox)?;
    session.tell_of(ask, &done);
    match done {
        Ok(()) => Ok(()),
        Err(failure) => outbox.tell(&Told::Failed(failure)),
    }
}

fn taken_back(outbox: &mut Outbox<'_>) -> Gone {
    let failure = Failure::new(
        FailureKind::Rights,
        "the token has been taken back or changed",
    )
    .with_hint("open the files again; ask the owner of the server if that fails");
    match outbox.tell(&Told::Failed(failure)) {
        Ok(()) => Gone::TakenBack,
        Err(gone) => gone,
    }
}

/// Does what is asked for, and answers, but for a failure.
fn carry_out(
    ask: &Ask,
    content: &mut Content<'_, '_>,
    buffer: &mut Vec<u8>,
    outbox: &mut Outbox<'_>,
) -> Result<Result<(), Failure>, Gone> {
    let session = outbox.session;
    let root = session.root;
    let simple = match ask {
        Ask::Read {
            path,
            offset,
            length,
            expected,
        } => {
            let range = Range {
                path,
                offset: *offset,
                length: *length,
                expected: *expected,
            };
            return read(root, &range, buffer, outbox);
        }
        Ask::List { path, is_recursive } => {
            let _walks = session.walks.take();
            let free = check_free(path);
            return match free {
                Ok(()) => list(root, path, *is_recursive, outbox),
                Err(failure) => Ok(Err(failure)),
            };
        }
        Ask::Remove { path, what } => {
            let _walks = session.walks.take();
            match remove(root, path, *what, outbox)? {
                Ok(()) => Ok(Told::Done),
                Err(failure) => Err(failure),
            }
        }
        Ask::Info { path } => check_free(path).and_then(|()| info(root, path).map(Told::Info)),
        Ask::MakeFolder { path, with_parents } => {
            make_folder(root, path, *with_parents).map(|()| Told::Done)
        }
        Ask::Rename { from, to, replaces } => {
            rename(root, from, to, *replaces).map(|()| Told::Done)
        }
        Ask::Store(file) => put(root, file, content, buffer, outbox)?.map(|()| Told::Done),
    };
    match simple {
        Ok(told) => outbox.tell(&told).map(Ok),
        Err(failure) => Ok(Err(failure)),
    }
}

//! The far end of access to files ([`copy_protocol::remote`]): one session of a token holder.
//!
//! The connection that authenticated and each stream have a thread, which takes one request after
//! the other and answers it; so a session that asks for much waits, and takes no memory. A thread
//! holds one request, at most 64 KiB of a file that comes or goes, and while it walks a tree one
//! open folder for each level. A file that is stored goes through the
//! [`Store`](files::store::Store) of copies.
//!
//! Reading order: `rights` for what is allowed, `session` for what connections share, `flow` for
//! what the server allows of them, `serving` for the connections, `outbox` for answers, `request`
//! for what is done; `names`, `list`, `read`, `remove`, `rename`, `put` for the files; `failure`
//! for what goes wrong.

mod failure;
mod flow;
mod list;
mod names;
mod outbox;
mod put;
mod read;
mod remove;
mod rename;
mod request;
mod rights;
mod serving;
mod session;

pub(crate) use flow::Flow;
pub(crate) use serving::serve_session;
pub(crate) use session::RemoteContext;
pub use session::RemoteTotals;

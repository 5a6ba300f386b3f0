//! Single files of a far end, over the connections of one session ([`copy_protocol::remote`]).
//!
//! [`RemoteFiles`] can be used by any number of threads. Requests go out without waiting for the
//! answers before them; long ranges go in pieces over several connections, which are opened when
//! there is enough to ask for: as many as copies from this host needed, or as a copy begins with on
//! a path of that round trip. Long reading changes the number as a copy does. A small file is
//! stored by one request. A lost connection is made anew, and what can be asked twice without harm
//! is asked again; what removes or renames is not, and says so.
//!
//! Left out: larger files are put by copies, and nothing is kept here between calls.
//!
//! Reading order: [`RemoteFiles`]; `reading` for ranges, `storing` for small files; `pool` for the
//! connections, `connection` for one of them, `adaptation` for how many, `window` for how much is
//! asked of one, `slot` for one request, `caller` for a call that waits.

mod adaptation;
mod caller;
mod connection;
mod error;
mod files;
mod options;
mod pool;
mod reading;
mod slot;
mod storing;
mod window;

pub use error::RemoteError;
pub use files::RemoteFiles;
pub use options::RemoteOptions;
pub use reading::ReadRange;
pub use slot::ReadBytes;
pub use storing::SmallFile;

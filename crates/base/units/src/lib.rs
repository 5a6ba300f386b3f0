//! Rates, sizes and times as types, with the printing and parsing that people see; the two ways
//! along a path; addresses; texts of others made safe to print.
//!
//! Every quantity is an integer: [`Rate`] in bits per second, [`Bytes`] in bytes, [`Span`] and
//! [`Time`] in nanoseconds. Arithmetic that would overflow saturates, so no input can make it
//! panic. `Display` prints the shortest exact form and parsing takes it back; `human` rounds for
//! reading.
//!
//! Reading order: `parse.rs` for what is accepted, then one file for each type.

mod address;
mod bytes;
mod pair;
mod parse;
mod rate;
mod rate_limit;
mod server_user;
mod share;
mod text;
mod time;
mod via;
mod way;

pub use address::{Address, AddressError, PORT_DEFAULT};
pub use bytes::Bytes;
pub use pair::{AddressPair, AddressPairError, PairChoice, can_be_dialed};
pub use parse::{ParseError, Problem};
pub use rate::Rate;
pub use rate_limit::{RateBound, RateLimit, RateSchedule, TimeOfDay};
pub use server_user::{Padding, PaddingError, ServerUser};
pub use share::share;
pub use text::{printable, steers};
pub use time::{Span, Time};
pub use via::{Dscp, DscpError, Family, FamilyClash, Source, SourceError, Via};
pub use way::{Direction, Way};

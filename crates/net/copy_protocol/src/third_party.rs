//! Third-party copies, without I/O: one host, the *controller*, commands a second one, the
//! *source*, to send files to a third one, the *destination*.
//!
//! The controller has a secret in common with each of the two, the source and the destination have
//! none. So the controller asks the destination for a token that opens one copy ([`Order::Grant`],
//! [`Report::Granted`]), and hands it to the source together with what is to be sent
//! ([`Order::Push`]). The source is then the near end of an ordinary copy ([this crate](crate)),
//! and tells the controller how far it is ([`Report`]). Files never pass through the controller.
//!
//! Both conversations begin with the handshake of [this crate](crate), with a purpose of their own.
//! Frames and their encoding are those of copies, at most [`MESSAGE_MAX`](crate::MESSAGE_MAX)
//! bytes long. Each end says something at least every five seconds ([`Order::Alive`],
//! [`Report::Alive`]); a source that hears nothing of its controller for 15 s ends the copy.
//!
//! Reading order: `order` for what the controller says, `report` for what it hears.

mod order;
mod report;

pub(crate) use order::frame;
pub use order::{Order, Push, Receiving};
pub use report::{End, Report, Standing, Totals};

/// Version of all of this. Ends of different versions make no third-party copies.
pub const THIRD_PARTY_VERSION: u16 = 3;

#[cfg(test)]
mod tests;

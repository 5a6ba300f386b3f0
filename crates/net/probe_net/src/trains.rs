//! Trains over real sockets: datagrams that leave by the clock, and stamps of those that arrive.
//!
//! A sender sleeps until shortly before a packet is due and watches the clock from there, on a
//! thread that goes before ordinary ones where this user may ask for that. What it notes is the
//! clock's reading as it hands the packet over; what a busy device makes of it afterwards is part
//! of the path. A receiver takes the kernel's stamps (`SO_TIMESTAMPNS`), so that it can read
//! packets whenever it comes to it; they are of the wall clock, and a train during which that was
//! set is not judged.
//!
//! Reading order: `socket`, `departure`, `arrival`, `wall_clock`.

mod arrival;
mod departure;
mod socket;
mod wall_clock;

pub use arrival::{ClockWasSet, Received, Stamper};
pub use departure::{Departed, TransmitError, transmit};
pub use socket::{SharedPort, TrainSocket, least_packet};

//! What breaks while both ends talk.

use super::around::Over;
use super::draw::Draw;
use super::talk::{Calm, Talk};

/// What may still break.
#[derive(Debug)]
pub(super) struct Faults {
    left: usize,
    /// Turns between two of them, about.
    every: usize,
    pub header_was_damaged: bool,
}

impl Faults {
    pub fn new(calm: Calm, draw: &mut Draw) -> Self {
        let left = match calm {
            Calm::Yes => 0,
            Calm::No => draw.below(5),
        };
        Faults {
            left,
            every: draw.pick(&[40, 15, 5]),
            header_was_damaged: false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    Leave,
    Break,
    Lose,
    Damage,
    Source,
    KillReceiver,
    KillSender,
}

/// The rarer ones once.
const FAULTS: [Fault; 10] = [
    Fault::Leave,
    Fault::Break,
    Fault::Break,
    Fault::Lose,
    Fault::Lose,
    Fault::Damage,
    Fault::Source,
    Fault::KillReceiver,
    Fault::KillReceiver,
    Fault::KillSender,
];

impl Talk<'_, '_, '_> {
    /// Something may break now.
    pub fn fault(&mut self) {
        if self.faults.left == 0 || !self.draw.chance(self.faults.every) {
            return;
        }
        self.faults.left -= 1;
        let fault = self.draw.pick(&FAULTS);
        self.draw.note(|| format!("  fault: {fault:?}"));
        let count = self.streams.len();
        match fault {
            Fault::Leave => self.let_one_leave(),
            Fault::Break if count > 0 => {
                let at = self.draw.below(count);
                self.streams[at].break_off(self.draw);
            }
            Fault::Damage if count > 0 => {
                let at = self.draw.below(count);
                self.faults.header_was_damaged |= self.streams[at].damage(self.draw);
            }
            Fault::Source => self.world.change_a_source(self.draw),
            Fault::Lose => self.lose(),
            Fault::KillReceiver if self.near_receiver.is_active() => {
                self.lose();
                self.receiver_ends(Over::Killed);
            }
            Fault::KillSender if self.near_sender.is_active() => {
                self.lose();
                self.sender_ends(Over::Killed);
            }
            _ => {}
        }
    }
}

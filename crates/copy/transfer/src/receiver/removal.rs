//! The end of a copy: unfinished files of others are told, and with `--delete` what the sources do
//! not have is removed.

use copy_protocol::{Message, Problem};

use super::state::{ReceiverState, RemovalPhase};
use crate::session::Outbox;
use files::store::Gone;

impl ReceiverState<'_, '_> {
    /// Removes some more. Returns whether there is yet more to do.
    ///
    /// Nothing is removed where something could not be copied: what is not known of a source might
    /// be there. Nor is anything told to be unfinished, which the same copy may go on with.
    pub(super) fn remove_some(&mut self, outbox: &dyn Outbox) -> bool {
        match std::mem::replace(&mut self.removal, RemovalPhase::Nothing) {
            RemovalPhase::Nothing => false,
            RemovalPhase::Later(rules) if self.stats.outcome.failed.is_empty() => {
                let store = &self.shared.store;
                let removal = match rules {
                    None => store.unfinished(),
                    Some(rules) => match self.stats.spared() {
                        Ok(kept) => Some(store.removal(rules, kept)),
                        Err(problem) => {
                            self.tell_gone(vec![Gone::Stays(problem)], outbox);
                            None
                        }
                    },
                };
                self.removal = removal.map_or(RemovalPhase::Nothing, RemovalPhase::Now);
                true
            }
            RemovalPhase::Later(_) => false,
            RemovalPhase::Now(mut removal) => match self.shared.store.remove_some(&mut removal) {
                None => false,
                Some(gone) => {
                    self.tell_gone(gone, outbox);
                    self.removal = RemovalPhase::Now(removal);
                    true
                }
            },
        }
    }

    fn tell_gone(&mut self, gone: Vec<Gone>, outbox: &dyn Outbox) {
        let mut all = Vec::new();
        for one in gone {
            match one {
                Gone::Removed(removed) => {
                    // A far end in whose log nothing was removed says only to the near one what
                    // would be.
                    if self.is_near || !self.is_dry {
                        self.stats.on_removed(&removed);
                    }
                    all.push(removed);
                }
                Gone::Stays(failed) => {
                    let name = failed.name.clone();
                    let problem = Problem {
                        kind: failed.kind,
                        file: None,
                        what: failed.what.clone(),
                        hint: failed.hint.clone(),
                    };
                    self.stats.on_left_out(failed);
                    outbox.send(Message::LeftOut { name, problem });
                }
            }
        }
        if !all.is_empty() {
            outbox.send(Message::Removed(all));
        }
    }
}

//! Sessions of access to files at a far end.

use std::sync::atomic::Ordering;

use copy_net::{AcceptedRemote, RemoteHandler};
use copy_protocol::{Key, KeyName, Name, Problem, Rights};

use super::{FarEnd, FarEvent, Keys, read};
use crate::budget::Use;
use crate::remote::{RemoteContext, RemoteTotals, serve_session};

impl RemoteHandler for FarEnd {
    fn serve_remote(&self, accepted: AcceptedRemote) {
        let (peer, name) = (accepted.peer, accepted.admitted.key_name.clone());
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        (self.on_event)(&FarEvent::RemoteBegan {
            number,
            peer,
            name: name.clone(),
        });
        let (totals, why) = match self.serve_files(number, accepted) {
            Ok(ended) => ended,
            Err(problem) => (RemoteTotals::default(), Some(problem.what)),
        };
        (self.on_event)(&FarEvent::RemoteEnded {
            number,
            peer,
            name,
            why,
            totals,
        });
    }
}

impl FarEnd {
    /// What a token opens now.
    fn opens(&self, name: &KeyName) -> Option<(Key, Rights, Name)> {
        let (key, rights) = self.find_own(name)?;
        let folder = match &self.keys {
            Keys::Tokens(tokens) => read(tokens).folder(name).cloned()?,
            Keys::One(_) => Name::default(),
        };
        Some((key, rights, folder))
    }

    fn serve_files(
        &self,
        number: u64,
        accepted: AcceptedRemote,
    ) -> Result<(RemoteTotals, Option<String>), Problem> {
        let admitted = &accepted.admitted;
        let (name, rights) = (admitted.key_name.clone(), admitted.rights);
        let root = self.root_of(&name)?.restricted(rights.read, rights.write);
        let opened_with = self.opens(&name);
        let is_taken_back = || self.opens(&name) != opened_with;
        let on_change = |what: String| {
            if self.tells_files {
                (self.on_event)(&FarEvent::RemoteChanged { number, what });
            }
        };
        let share = |direction| self.budget.user(Use::Files, name.clone(), direction);
        let context = RemoteContext {
            root,
            is_taken_back: &is_taken_back,
            on_change: &on_change,
            all_streams: &self.remote_streams,
            share: &share,
        };
        Ok(serve_session(accepted, &context))
    }
}

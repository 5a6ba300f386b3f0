//! Copies through ssh by one user between this host and the same far host share their streams.
//!
//! Each has a far end of its own, which knows of no other, so they are steered as one from here: in
//! a folder beside the sockets through which they are bounded, as the copies of a campaign are in
//! its own. Without a folder, or a place in it, a copy steers itself.

use std::path::Path;

use campaign_store::{Slot, Slots};
use copy_net::control_socket;
use copy_protocol::{CopySpec, FarHost, FarProgram, NearEnd};
use observe::Transport;

use crate::host;
use crate::link_share::LinkShare;

/// Copies that meet; further ones steer themselves.
const COPIES_MAX: u16 = 64;

/// A place among the copies with one far host; given back however the process ends.
pub(super) struct SshLinkGroup {
    slots: Slots,
    slot: Slot,
}

impl SshLinkGroup {
    /// `None` where the number of streams is not sought, or a server knows of all copies.
    pub fn of(spec: &CopySpec) -> Option<Self> {
        SshLinkGroup::within(&control_socket::folder().ok()?, spec)
    }

    fn within(folder: &Path, spec: &CopySpec) -> Option<Self> {
        let options = &spec.options;
        let is_sought = options.streams.is_none() && options.gentle.is_none() && !options.dry_run;
        // One that waits for files for days would keep its part of the streams.
        let is_sought = is_sought && options.follow.is_none();
        let is_from_here = matches!(spec.near, NearEnd::Here(_));
        let FarHost::Ssh {
            destination,
            program,
            ..
        } = &spec.far.host
        else {
            return None;
        };
        // Connections over SFTP are few, and tell nothing of the path.
        if *program == FarProgram::Sftp
            || !is_sought
            || !is_from_here
            || spec.transport != Transport::Tcp
            || !spec.pairs.is_empty()
            || spec.all_addresses
        {
            return None;
        }
        let far = destination.rsplit('@').next().unwrap_or(destination);
        let link = format!("{} {:?} {far}", host::name(), spec.direction);
        let name = blake3::hash(link.as_bytes()).to_hex();
        let slots = Slots::within(folder.join("links").join(&name[..32]), &link, COPIES_MAX);
        let slot = slots.take().ok().flatten()?;
        if slots.held() == 1 {
            // What was told last is of copies that have ended.
            slots.reports().forget();
        }
        Some(SshLinkGroup { slots, slot })
    }

    /// The part of this copy.
    pub fn share(&self) -> LinkShare<'_> {
        LinkShare::new(&self.slots, &self.slot, 1, None)
    }
}

#[cfg(test)]
mod tests {
    use copy_protocol::CopyDirection;
    use copy_protocol::{Connect, CopyOptions, Patience, Place};
    use units::Span;

    use super::*;
    use crate::measure::StreamCount;

    fn to(destination: &str) -> CopySpec {
        CopySpec {
            direction: CopyDirection::Put,
            near: NearEnd::Here(vec!["run7".into()]),
            far: Place {
                host: FarHost::Ssh {
                    destination: destination.to_owned(),
                    client: "ssh".to_owned(),
                    options: Vec::new(),
                    program: FarProgram::default(),
                    via: units::Via::default(),
                },
                paths: vec![b"/store".to_vec()],
            },
            options: CopyOptions::default(),
            connect: Connect::ToFar(None),
            transport: Transport::Tcp,
            pairs: Vec::new(),
            all_addresses: false,
            patience: Patience::default(),
        }
    }

    #[test]
    fn copies_to_one_far_host_meet_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let meet = |spec: &CopySpec| SshLinkGroup::within(folder.path(), spec).unwrap();
        let (first, second) = (meet(&to("dtn")), meet(&to("ana@dtn")));
        assert_eq!(first.slots.held_numbers(), [0, 1]);
        assert_eq!(second.slot.number(), 1);
        let back = CopySpec {
            direction: CopyDirection::Get,
            ..to("dtn")
        };
        let others = [meet(&back), meet(&to("other"))];
        assert!(others.iter().all(|one| one.slots.held() == 1));
        drop(first);
        assert_eq!(second.slots.held_numbers(), [1]);
    }

    #[test]
    fn copies_whose_number_is_not_sought_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let meets = |change: &dyn Fn(&mut CopySpec)| {
            let mut spec = to("dtn");
            change(&mut spec);
            SshLinkGroup::within(folder.path(), &spec).is_some()
        };
        assert!(meets(&|_| ()));
        assert!(!meets(
            &|spec| spec.options.streams = StreamCount::new(3).ok()
        ));
        assert!(!meets(
            &|spec| spec.options.gentle = Some(Span::from_millis(1))
        ));
        assert!(!meets(&|spec| spec.options.dry_run = true));
        assert!(!meets(&|spec| spec.transport = Transport::Udp));
    }
}

//! What a copy is allowed: its rate, and the parts and shares of its streams.

use std::time::Instant;

use observe::StreamCount;
use steer::LinkReport;
use units::{Bytes, Rate};

use super::CopyStats;
use crate::budget::{BudgetUser, CopyShare};
use crate::peer_links::LinkMember;

impl CopyStats<'_> {
    /// Another bound on the rate, when the user has just set one.
    pub(crate) fn new_rate_max(&mut self) -> Option<Option<Rate>> {
        let wanted = self.control.rate_max();
        (wanted != self.rate_max).then(|| {
            self.rate_max = wanted;
            wanted
        })
    }

    /// The bound on the rate that an opening tells. Others are told as they come.
    pub(crate) fn rate_max_to_open(&mut self) -> Option<Rate> {
        self.rate_max = self.control.rate_max();
        self.rate_max
    }

    /// Another fixed number of streams, when one has just been set; within this conversation.
    pub(crate) fn new_streams(&mut self) -> Option<Option<StreamCount>> {
        let wanted = self.control.streams();
        (wanted != self.streams).then(|| {
            self.streams = wanted;
            wanted
        })
    }

    /// The copy takes part in the steering of all that have the same peer.
    pub(crate) fn join(&mut self, link: Option<LinkMember>) {
        self.link = link;
    }

    /// Another part of the streams of all copies with the same peer, when one was just given; none
    /// leaves the number to the sender.
    ///
    /// * `is_fixed`: the near end has fixed the number, so that the copy takes no part.
    pub(crate) fn new_part(&mut self, is_fixed: bool) -> Option<Option<StreamCount>> {
        let report = (!is_fixed).then(|| self.report());
        self.link.as_mut()?.look(Instant::now(), report)
    }

    /// The copy shares the bounds of this server.
    pub(crate) fn share(&mut self, budget: BudgetUser) {
        self.budget = Some(budget);
    }

    /// Another part of what this server allows all copies, when one was just given.
    ///
    /// * `moved`: bytes on the streams of this conversation.
    pub(crate) fn new_share(&mut self, moved: Bytes) -> Option<CopyShare> {
        let streams = self.sending.streams;
        self.budget.as_mut()?.look(Instant::now(), moved, streams)
    }

    /// The part that was given last.
    pub(crate) fn present_share(&self) -> CopyShare {
        let budget = self.budget.as_ref();
        budget.map(BudgetUser::told).unwrap_or_default()
    }

    fn report(&self) -> LinkReport {
        LinkReport {
            copy: 0,
            weight: 1,
            done: self.counts.arrived,
            streams: self.sending.streams,
            rtt: self.sending.rtt,
            retransmitted_share: self.sending.retransmitted_share,
            limited_by: self.sending.binds,
        }
    }
}

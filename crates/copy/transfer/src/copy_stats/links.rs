//! What the streams of a copy go over: pairs of addresses, or multipath TCP.

use copy_protocol::CopySpec;
use units::AddressPair;

use super::CopyStats;
use crate::copy_multipath::CopyMultipath;
use crate::copy_pairs::CopyPairs;

impl CopyStats<'_> {
    /// Its streams are dealt over pairs of addresses, or are of multipath TCP, as was asked for.
    pub(crate) fn use_links(&mut self, spec: &CopySpec) {
        self.deal_over(&spec.pairs);
        self.multipath = spec.is_multipath().then(CopyMultipath::default);
    }

    /// Its streams are dealt over these pairs, where there are any.
    pub(crate) fn deal_over(&mut self, pairs: &[AddressPair]) {
        self.pairs = CopyPairs::new(pairs);
    }

    /// A session begins, whose streams are of multipath TCP where that was asked for.
    pub(crate) fn begin_multipath(&self) -> Option<CopyMultipath> {
        let multipath = self.multipath.clone()?;
        multipath.begin();
        Some(multipath)
    }

    /// The pairs of addresses over which its streams are dealt, as far as they are known.
    pub(crate) fn pair_addresses(&self) -> Vec<AddressPair> {
        let addresses = self.pairs.as_ref().map(CopyPairs::addresses);
        addresses.unwrap_or_default()
    }

    /// A session begins, whose streams are dealt over these.
    pub(crate) fn begin_dealing(&self) -> Option<CopyPairs> {
        let pairs = self.pairs.clone()?;
        pairs.begin(self.now());
        Some(pairs)
    }

    /// Something is to be said of a pair of addresses, where there are so many streams.
    pub(crate) fn on_pair(&mut self, streams: u16, news: Option<String>) {
        if let Some(news) = news {
            self.on_steered(streams, news);
        }
    }
}

//! What a tree has that it had not, or had otherwise, when it was planned last.

use crate::listing::Listing;
use crate::{Entry, StoreError};

/// What became of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// It was not there.
    New(Entry),
    /// It is another one now.
    Changed(Entry),
    /// As it was.
    Same(Entry),
    /// It is there no more; as it was.
    Gone(Entry),
}

/// Compares two sorted lists.
pub(crate) struct Differences<I> {
    now: I,
    before: Listing,
    next_now: Option<Entry>,
    next_before: Option<Entry>,
}

impl<I: Iterator<Item = Result<Entry, StoreError>>> Differences<I> {
    pub fn new(mut now: I, mut before: Listing) -> Result<Self, StoreError> {
        Ok(Differences {
            next_now: now.next().transpose()?,
            next_before: before.next()?,
            now,
            before,
        })
    }

    fn take_now(&mut self) -> Result<Option<Entry>, StoreError> {
        let next = self.now.next().transpose()?;
        Ok(std::mem::replace(&mut self.next_now, next))
    }

    fn take_before(&mut self) -> Result<Option<Entry>, StoreError> {
        let next = self.before.next()?;
        Ok(std::mem::replace(&mut self.next_before, next))
    }

    pub fn next(&mut self) -> Result<Option<Difference>, StoreError> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let order = match (&self.next_now, &self.next_before) {
            (None, None) => return Ok(None),
            (Some(_), None) => Less,
            (None, Some(_)) => Greater,
            (Some(now), Some(before)) => now.name.cmp(&before.name),
        };
        match order {
            Less => Ok(self.take_now()?.map(Difference::New)),
            Greater => Ok(self.take_before()?.map(Difference::Gone)),
            Equal => {
                let before = self.take_before()?;
                let now = self.take_now()?;
                Ok(now
                    .zip(before)
                    .map(|(now, before)| match now.is_like(&before) {
                        true => Difference::Same(now),
                        false => Difference::Changed(now),
                    }))
            }
        }
    }
}

//! A ring of places, without order among those of one.

/// A ring has this many doublings of a place.
pub(super) const RING_BITS: u32 = 10;
pub(super) const PLACES: usize = 1 << RING_BITS;
const WORDS: usize = PLACES / 64;

/// Things by a number that only grows, each with fewer than [`PLACES`] to go.
#[derive(Debug)]
pub(super) struct Ring<T> {
    places: Vec<Vec<T>>,
    /// Which places hold something, a bit each.
    filled: [u64; WORDS],
    /// How many do.
    count: usize,
}

impl<T: Clone> Ring<T> {
    pub fn new() -> Self {
        Ring {
            places: vec![Vec::new(); PLACES],
            filled: [0; WORDS],
            count: 0,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub fn put(&mut self, number: u64, thing: T) {
        let place = number as usize % PLACES;
        self.count += usize::from(self.places[place].is_empty());
        self.places[place].push(thing);
        self.filled[place / 64] |= 1 << (place % 64);
    }

    /// How many are kept at a place.
    #[inline]
    pub fn count_at(&self, number: u64) -> usize {
        self.places[number as usize % PLACES].len()
    }

    /// Empties a place that holds something, or nothing.
    #[inline]
    pub fn take(&mut self, number: u64) -> impl Iterator<Item = T> + '_ {
        let place = number as usize % PLACES;
        self.count -= usize::from(!self.places[place].is_empty());
        self.filled[place / 64] &= !(1 << (place % 64));
        self.places[place].drain(..)
    }

    /// The first number after `current` whose place holds something; that of `current` itself is
    /// empty.
    #[inline]
    pub fn next_after(&self, current: u64) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let place = current as usize % PLACES;
        // The current word comes up twice: first what lies behind the place, at last what lies
        // before.
        (0..=WORDS).find_map(|step| {
            let word = (place / 64 + step) % WORDS;
            let seen = match step {
                0 => !0 << (place % 64),
                WORDS => !(!0 << (place % 64)),
                _ => !0,
            };
            let bits = self.filled[word] & seen;
            (bits != 0).then(|| {
                let found = word * 64 + bits.trailing_zeros() as usize;
                current + ((found + PLACES - place) % PLACES) as u64
            })
        })
    }
}

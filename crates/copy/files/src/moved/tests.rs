use super::*;

/// Bytes of a piece that is compared with an older version.
const PIECE: usize = 128 << 10;
const MIB: usize = 1 << 20;

/// Numbers from a seed (xorshift).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 11) as usize % bound
    }

    fn noise(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend(self.next().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }

    /// Inserts, removes, moves or overwrites some bytes.
    fn edit(&mut self, bytes: &mut Vec<u8>) {
        let length = 1 + self.below(50_000);
        let at = self.below(bytes.len() - length);
        match self.below(4) {
            0 => drop(bytes.splice(at..at, self.noise(length))),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let moved: Vec<u8> = bytes.drain(at..at + length).collect();
                let to = self.below(bytes.len());
                drop(bytes.splice(to..to, moved));
            }
            _ => bytes[at..at + length].copy_from_slice(&self.noise(length)),
        }
    }
}

fn read(older: &[u8], place: u64, into: &mut [u8]) -> bool {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    let found = older.get(place..).and_then(|rest| rest.get(..into.len()));
    found.map(|found| into.copy_from_slice(found)).is_some()
}

/// What the other end is told of an older version.
fn known(older: &[u8]) -> KnownChunks {
    let size = older.len() as u64;
    let mut known = KnownChunks::default();
    let mut cutter = Cutter::new(size).unwrap();
    let mut end = 0;
    while let Some((start, chunks)) = cutter.advance(|place, into| read(older, place, into)) {
        assert_eq!(start, end);
        end += chunks.iter().map(|it| u64::from(it.length)).sum::<u64>();
        known.insert(0, size, start, &chunks);
    }
    assert_eq!((end, cutter.end()), (size, size));
    known
}

/// Sends all pieces of a newer version. Returns how many bytes that takes.
fn sent(older: &[u8], newer: &[u8]) -> usize {
    let known = known(older);
    let (cuts, size) = (known.cuts(0).unwrap(), newer.len() as u64);
    let mut sent = 0;
    for start in (0..newer.len()).step_by(PIECE) {
        let piece = start..newer.len().min(start + PIECE);
        let around = cuts.around(start as u64..piece.end as u64, size);
        let bytes = &newer[around.start as usize..around.end as usize];
        let from = start - around.start as usize;
        let within = from..from + piece.len();
        let place = |chunk: &Chunk| known.place(0, chunk);
        let Some(recipe) = cuts.recipe(bytes, within, around.end == size, place) else {
            sent += piece.len();
            continue;
        };
        sent += recipe.wire.len();
        let length = piece.len() as u32;
        let made = assemble(&recipe.wire, length, |at, into| read(older, at, into));
        let (made, literal) = made.unwrap();
        assert!(made == newer[piece], "the piece at {start}");
        assert_eq!(literal, recipe.sent);
    }
    sent
}

#[test]
fn what_is_put_together_is_the_newer_version_after_any_edits() {
    for seed in 1..=30 {
        let mut draw = Draw(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let length = MIB + draw.below(MIB);
        let older = draw.noise(length);
        let mut newer = older.clone();
        for _ in 0..1 + draw.below(4) {
            draw.edit(&mut newer);
        }
        let sent = sent(&older, &newer);
        assert!(sent <= newer.len(), "seed {seed}: {sent} bytes");
    }
}

#[test]
fn what_moved_costs_little() {
    let older = Draw(7).noise(9 * MIB + 5);
    let half = older.len() / 2;
    let versions = [
        ("a byte in front", [&[7], &older[..]].concat()),
        ("nothing", older.clone()),
        ("a byte less", older[1..].to_vec()),
        (
            "1 KiB in the middle",
            [&older[..half], &[3; 1024], &older[half..]].concat(),
        ),
        ("halves swapped", [&older[half..], &older[..half]].concat()),
    ];
    for (what, newer) in versions {
        let sent = sent(&older, &newer);
        assert!(sent < older.len() / 15, "{what}: {sent} bytes");
    }
    let other = Draw(8).noise(2 * MIB);
    assert_eq!(sent(&older, &other), other.len(), "nothing is in common");
}

/// Ends that cut at other places find nothing: these are part of the copy protocol, and were
/// reckoned by another program.
#[test]
fn cuts_stay_where_they_are() {
    let ends = Cuts::of(1 << 20)
        .unwrap()
        .ends(&Draw(7).noise(400 << 10), true);
    let first = [43_931, 68_963, 82_158, 147_694, 161_659, 169_767];
    assert_eq!((&ends[..6], ends.len()), (&first[..], 19));
    assert_eq!(ends.last(), Some(&(400 << 10)));
}

/// All chunks of zeros are the same, and as long as can be.
#[test]
fn zeros_are_found_as_well() {
    let older = vec![0; 2 * MIB];
    assert!(sent(&older, &vec![0; 3 * MIB + 77]) < 8 << 10);
}

fn recipe(runs: &[(u64, u32)], follows: &[u8]) -> Vec<u8> {
    let mut wire = (runs.len() as u16).to_be_bytes().to_vec();
    for (place, length) in runs {
        wire.extend(place.to_be_bytes());
        wire.extend(length.to_be_bytes());
    }
    [&wire[..], follows].concat()
}

#[test]
fn a_recipe_that_cannot_be_makes_nothing() {
    let older: Vec<u8> = (0..100).collect();
    let made = |wire: &[u8]| assemble(wire, 10, |at, into| read(&older, at, into));
    let right = recipe(&[(90, 4), (FOLLOWS, 2), (0, 4)], b"ab");
    let bytes = [90, 91, 92, 93, b'a', b'b', 0, 1, 2, 3];
    assert_eq!(made(&right), Some((bytes.to_vec(), 2)));
    let many = [(0, 1); 10];
    assert!(made(&recipe(&many, &[])).is_some());
    let wrong = [
        Vec::new(),
        vec![0],
        vec![0, 0],
        vec![0xFF; 2 + 3 * RUN_LENGTH],
        right[..right.len() - 1].to_vec(),
        [&right[..], &[0]].concat(),
        recipe(&[(0, 9)], &[]),
        recipe(&[(0, 11)], &[]),
        recipe(&[(0, 10), (0, 0)], &[]),
        recipe(&[(91, 10)], &[]),
        recipe(&[(100, 10)], &[]),
        recipe(&[(FOLLOWS - 1, 10)], &[]),
        recipe(&[(i64::MAX as u64, 10)], &[]),
        recipe(&[(FOLLOWS, 10)], &[0; 9]),
        recipe(&[(FOLLOWS, 9)], &[0; 10]),
        recipe(&[(0, u32::MAX), (0, 11)], &[]),
        recipe(&[(0, u32::MAX); 9], &[]),
    ];
    for wire in wrong {
        assert_eq!(made(&wire), None, "{wire:?}");
    }
    let runs = [(0, 1); RUNS_MAX + 1];
    let too_many = assemble(&recipe(&runs, &[]), RUNS_MAX as u32 + 1, |_, _| true);
    assert_eq!(too_many, None);
}

/// A peer can say nothing that makes this end put more aside than it sent.
#[test]
fn nothing_is_read_for_a_recipe_of_another_length() {
    let wire = recipe(&[(0, u32::MAX)], &[]);
    assert_eq!(assemble(&wire, 10, |_, _| panic!("it was read")), None);
}

#[test]
fn lists_stay_short() {
    for older in [0, 1 << 20, 4 << 30, (4 << 30) + 1, 64 << 30] {
        let cuts = Cuts::of(older).unwrap();
        assert!(cuts.list_length(older) <= CHUNKS * LISTED, "{older}");
    }
    for older in [(64 << 30) + 1, u64::MAX] {
        assert_eq!(Cuts::of(older), None);
        assert!(Cutter::new(older).is_none());
    }
}

#[test]
fn a_peer_that_tells_chunks_without_end_is_not_kept_in_memory() {
    let chunk = |number: u64| Chunk {
        length: 5,
        hash: number.to_le_bytes(),
    };
    let all: Vec<Chunk> = (0..KNOWN_MAX as u64 + 7).map(chunk).collect();
    let mut known = KnownChunks::default();
    known.insert(1, 1 << 20, 0, &all[..9]);
    known.insert(2, 1 << 20, u64::MAX - 6, &all);
    assert_eq!(known.count, KNOWN_MAX);
    assert_eq!(known.place(1, &all[8]), Some(40));
    assert_eq!(known.place(1, &all[9]), None);
    assert_eq!(known.place(2, &all[KNOWN_MAX]), None);
    let other = Chunk {
        length: 6,
        ..all[0]
    };
    assert_eq!(known.place(1, &other), None);
    known.forget(2);
    known.forget(2);
    assert_eq!((known.count, known.cuts(2)), (9, None));
}

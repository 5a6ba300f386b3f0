//! Random histories of a ledger, compared with a world that knows what truly happened.

use proptest::prelude::*;

use super::*;
use files::legal_piece;

/// What happens to a ledger in random order.
#[derive(Debug, Clone, Copy)]
enum Step {
    Take(u32, u64),
    Ack(usize),
    Damage(usize),
    Over(u32),
    Add(u64),
    Forget(FileId),
    /// The stream that carries this piece finds that it lies in a hole that goes on for so many
    /// bytes.
    Hole(usize, u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0_u32..5, 0_u64..5 * MIB).prop_map(|(stream, piece_size)| Step::Take(stream, piece_size)),
        6 => any::<usize>().prop_map(Step::Ack),
        1 => any::<usize>().prop_map(Step::Damage),
        1 => (0_u32..5).prop_map(Step::Over),
        1 => (1_u64..9 * MIB).prop_map(Step::Add),
        1 => (0_u32..20).prop_map(Step::Forget),
        2 => (any::<usize>(), 0_u64..400 * MIB).prop_map(|(at, more)| Step::Hole(at, more)),
    ]
}

/// A receiver and a network that know what truly happened.
#[derive(Default)]
struct World {
    ledger: Ledger,
    sizes: Vec<u64>,
    wanted: Vec<Vec<(u64, u64)>>,
    /// What each stream carries.
    carried: Vec<(u32, Range)>,
    counted: BTreeMap<FileId, Vec<Range>>,
    read: BTreeSet<FileId>,
    ended: BTreeSet<FileId>,
    forgotten: BTreeSet<FileId>,
}

impl World {
    fn add(&mut self, size: u64) {
        let file = self.sizes.len() as FileId;
        // Every third file is wanted in parts, as an earlier try left it.
        let half = size / 2;
        let parts = match file % 3 {
            2 => vec![(size / 5, size / 7), (half, size)],
            _ => vec![(0, size)],
        };
        self.ledger.add(file, size, &parts);
        self.sizes.push(size);
        self.wanted.push(parts);
    }

    fn take(&mut self, stream: u32, piece_size: u64) -> bool {
        let (waiting, has_work) = (self.ledger.waiting(), self.ledger.has_work());
        let Some(Taken { piece, is_copy }) = self.ledger.take(stream, piece_size) else {
            assert!(!self.ledger.has_work(), "work is never withheld");
            return false;
        };
        assert_eq!(
            is_copy, !has_work,
            "copies only when nothing else may be given out"
        );
        assert_eq!(
            self.ledger.waiting(),
            waiting - if is_copy { 0 } else { piece.length }
        );
        let size = self.sizes[piece.file as usize];
        assert!(
            legal_piece(size, piece.start, piece.length),
            "{size} {piece:?}"
        );
        assert!(!self.forgotten.contains(&piece.file));
        if self.ledger.read(piece, piece.length) {
            assert!(self.read.insert(piece.file), "read to its end once");
        }
        self.carried.push((stream, piece));
        true
    }

    fn ack(&mut self, at: usize) {
        if self.carried.is_empty() {
            return;
        }
        let (_, piece) = self.carried.swap_remove(at % self.carried.len());
        let before = self.ledger.left();
        match self.ledger.acked(piece) {
            Acked::Counted { is_last, data } => {
                assert_eq!(self.ledger.left(), before - piece.length);
                assert_eq!(data, piece.length);
                self.counted.entry(piece.file).or_default().push(piece);
                if is_last {
                    assert!(self.read.contains(&piece.file));
                    assert!(self.ended.insert(piece.file));
                }
            }
            Acked::Late => assert_eq!(self.ledger.left(), before),
            Acked::NeverSent => panic!("{piece:?} was sent"),
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Take(stream, piece_size) => {
                self.take(stream, piece_size);
            }
            Step::Ack(at) => self.ack(at),
            Step::Damage(at) if !self.carried.is_empty() => {
                let (_, piece) = self.carried.swap_remove(at % self.carried.len());
                self.ledger.damaged(piece);
            }
            Step::Hole(at, more) if !self.carried.is_empty() => {
                let (_, piece) = self.carried[at % self.carried.len()];
                self.ledger
                    .is_hole(piece, piece.start + piece.length + more);
            }
            Step::Over(stream) => {
                // What it carried is lost, or confirmed later: half of it each.
                self.ledger.over(stream);
                let mut lost = false;
                self.carried.retain(|(carrier, _)| {
                    lost ^= *carrier == stream;
                    *carrier != stream || lost
                });
            }
            Step::Add(size) if self.sizes.len() < 20 => self.add(size),
            Step::Forget(file) if (file as usize) < self.sizes.len() => {
                self.ledger.forget(file);
                self.forgotten.insert(file);
            }
            _ => (),
        }
    }

    /// Two streams continue until nothing is left; late confirmations change nothing.
    fn finish(&mut self) {
        self.ledger.all_added();
        for _ in 0..10_000 {
            if self.ledger.left() == 0 {
                return;
            }
            self.take(7, MIB);
            self.take(8, MIB);
            self.ack(usize::MAX);
            self.ack(0);
        }
        panic!("{} bytes are left", self.ledger.left());
    }

    /// Every wanted byte of each file that did not fail was counted exactly once.
    fn check(&mut self) {
        for (file, size) in self.sizes.iter().enumerate() {
            let mut counted = self.counted.remove(&(file as FileId)).unwrap_or_default();
            counted.sort();
            let disjoint = counted
                .windows(2)
                .all(|two| two[0].start + two[0].length <= two[1].start);
            assert!(disjoint, "{counted:?}");
            if self.forgotten.contains(&(file as FileId)) {
                continue;
            }
            assert!(self.ended.contains(&(file as FileId)));
            let sum: u64 = counted.iter().map(|piece| piece.length).sum();
            let wanted = normalised(*size, &self.wanted[file]);
            assert_eq!(
                sum,
                wanted
                    .iter()
                    .map(|range| range.end - range.start)
                    .sum::<u64>()
            );
        }
        assert_eq!((self.ledger.files(), self.ledger.waiting()), (0, 0));
    }
}

proptest! {
    #[test]
    fn whatever_dies_every_byte_counts_once_and_none_is_lost(
        sizes in proptest::collection::vec(1_u64..20 * MIB, 1..6),
        steps in proptest::collection::vec(step(), 0..300),
        early_end: bool,
    ) {
        let mut world = World::default();
        sizes.into_iter().for_each(|size| world.add(size));
        for (at, step) in steps.into_iter().enumerate() {
            if early_end && at == 100 {
                world.ledger.all_added();
            }
            world.step(step);
        }
        // Streams 0 to 4 take nothing any more.
        world.finish();
        world.check();
    }

    #[test]
    fn what_a_receiver_says_never_upsets_the_books(
        said: Vec<(u32, u64, u64)>, wanted: Vec<(u64, u64)>, size: u64,
    ) {
        let mut ledger = Ledger::default();
        let size = size % (1 << 40);
        let bytes = ledger.add(0, size, &wanted);
        prop_assert!(bytes <= size);
        let mut left = bytes;
        for (file, start, length) in said {
            if let Some(taken) = ledger.take(1, length) {
                ledger.read(taken.piece, taken.piece.length);
            }
            let piece = range(file % 2, start, length);
            if matches!(ledger.acked(piece), Acked::Counted { .. }) {
                left -= length;
            }
            ledger.damaged(piece);
            prop_assert_eq!(ledger.left(), left);
        }
    }
}

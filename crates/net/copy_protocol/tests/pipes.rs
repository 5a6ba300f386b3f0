//! Both ends of a pipe without a network: whatever breaks, the reader gets a prefix of the input,
//! and in the end all of it.

use std::collections::VecDeque;

use copy_protocol::pipe::*;
use copy_protocol::{CopyDirection, Incoming};

const HISTORIES: u64 = 100_000;
const WINDOW: u64 = 40;

/// Numbers from a seed (splitmix64).
struct Draw(u64);

impl Draw {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// A block as it is on the way.
type Block = (BlockHeader, Vec<u8>);

/// Both ends, and what is on the way between them.
struct World {
    draw: Draw,
    input: Vec<u8>,
    sender: SendWindow,
    receiver: ArriveWindow,
    /// Of each stream, the blocks that were written to it.
    streams: Vec<(u32, VecDeque<Block>)>,
    next_stream: u32,
    /// Confirmations on the way; they come in order.
    confirmed: VecDeque<u64>,
    end_said: bool,
    output: Vec<u8>,
    given: Option<usize>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut draw = Draw(seed);
        let length = draw.next_u64() % 200;
        let input = (0..length).map(|_| draw.next_u64() as u8).collect();
        World {
            draw,
            input,
            sender: SendWindow::new(WINDOW),
            receiver: ArriveWindow::new(WINDOW),
            streams: Vec::new(),
            next_stream: 0,
            confirmed: VecDeque::new(),
            end_said: false,
            output: Vec::new(),
            given: None,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.draw.next_u64() % bound.max(1) as u64) as usize
    }

    fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.input).as_bytes()
    }

    fn read(&mut self) {
        let at = self.sender.read() as usize;
        let most = (self.sender.room() as usize).min(self.input.len() - at);
        if most > 0 {
            let length = 1 + self.below(most.min(9));
            self.sender.push(self.input[at..at + length].to_vec());
        } else if at == self.input.len() {
            self.sender.finish(self.digest());
        }
    }

    fn send(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        let at = self.below(self.streams.len());
        let (number, queue) = &mut self.streams[at];
        if let Some((header, bytes)) = self.sender.take(*number) {
            queue.push_back((header, bytes.to_vec()));
        }
    }

    fn arrive(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        let at = self.below(self.streams.len());
        if let Some((header, bytes)) = self.streams[at].1.pop_front() {
            self.receiver.offer(header.offset, bytes).unwrap();
        }
    }

    fn write(&mut self) {
        match self.given.take() {
            Some(_) => {
                self.receiver.on_written();
                self.confirmed.push_back(self.receiver.taken());
            }
            None => {
                if let Some(block) = self.receiver.next_block() {
                    self.given = Some(block.len());
                    self.output.extend(block);
                }
            }
        }
    }

    fn confirm(&mut self) {
        if let Some(taken) = self.confirmed.pop_front() {
            self.sender.on_taken(taken).unwrap();
        }
    }

    fn end(&mut self) {
        if let Some(end) = self.sender.end()
            && !self.end_said
        {
            self.end_said = true;
            self.receiver.on_end(end).unwrap();
        }
    }

    /// A stream breaks; some of what was written to it may still arrive before that is noticed.
    fn cut(&mut self) {
        if self.streams.is_empty() {
            return;
        }
        let at = self.below(self.streams.len());
        let (number, mut queue) = self.streams.swap_remove(at);
        let arrives = self.below(queue.len() + 1);
        for (header, bytes) in queue.drain(..arrives) {
            self.receiver.offer(header.offset, bytes).unwrap();
        }
        self.sender.on_lost(number);
    }

    /// The control connection breaks, and all streams with it.
    fn resume(&mut self) {
        self.streams.clear();
        self.confirmed.clear();
        self.end_said = false;
        self.sender.on_taken(self.receiver.taken()).unwrap();
        self.sender.on_all_lost();
    }

    fn step(&mut self, has_trouble: bool) {
        match self.below(if has_trouble { 40 } else { 36 }) {
            0..=7 => self.read(),
            8..=15 => self.send(),
            16..=23 => self.arrive(),
            24..=29 => self.write(),
            30..=32 => self.confirm(),
            33 => self.end(),
            34..=35 if self.streams.len() < 4 => {
                self.streams.push((self.next_stream, VecDeque::new()));
                self.next_stream += 1;
            }
            34..=35 => {}
            36..=38 => self.cut(),
            _ => self.resume(),
        }
    }

    fn check(&self, seed: u64) {
        let is_prefix = self.input.starts_with(&self.output);
        assert!(is_prefix, "seed {seed}: {:?}", self.output);
        let held = self.sender.read() - self.sender.taken();
        assert!(held <= WINDOW, "seed {seed}: {held} bytes held");
        if let Some(end) = self.receiver.reached_end() {
            assert_eq!(self.output, self.input, "seed {seed}");
            assert_eq!(end.digest, self.digest(), "seed {seed}");
        }
    }
}

#[test]
fn whatever_breaks_the_reader_gets_a_prefix_and_in_the_end_all_of_it() {
    for seed in 0..HISTORIES {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.step(true);
            world.check(seed);
        }
        let mut steps = 0;
        while world.receiver.reached_end().is_none() {
            world.step(false);
            world.check(seed);
            steps += 1;
            assert!(steps < 100_000, "seed {seed}: it hangs");
        }
    }
}

fn block(length: usize) -> Vec<u8> {
    vec![7; length]
}

#[test]
fn what_breaks_the_rules_is_refused() {
    let mut receiver = ArriveWindow::new(WINDOW);
    assert_eq!(receiver.offer(10, block(10)), Ok(true));
    assert_eq!(receiver.offer(10, block(10)), Ok(false), "sent again");
    for (offset, length) in [(10, 9), (5, 6), (15, 2), (19, 9)] {
        let refused = receiver.offer(offset, block(length));
        assert_eq!(refused, Err(PipeViolation::Overlap(offset)), "{offset}");
    }
    let (end, bound) = (WINDOW + 1, WINDOW);
    let beyond = receiver.offer(WINDOW, block(1));
    assert_eq!(beyond, Err(PipeViolation::Window { end, bound }));
    let far = receiver.check(BlockHeader {
        offset: u64::MAX,
        length: 9,
    });
    assert!(matches!(far, Err(PipeViolation::Window { .. })));
    assert_eq!(receiver.offer(0, Vec::new()), Err(PipeViolation::Length(0)));
    let early = End {
        bytes: 19,
        digest: [0; 32],
    };
    let (end, known) = (19, 20);
    let refused = receiver.on_end(early);
    assert_eq!(refused, Err(PipeViolation::End { end, known }));
    let said = End { bytes: 20, ..early };
    assert_eq!(receiver.on_end(said), Ok(()));
    assert_eq!(receiver.on_end(said), Ok(()), "said again");
    assert!(receiver.on_end(End { bytes: 30, ..early }).is_err());
    assert!(receiver.offer(20, block(1)).is_err(), "behind the end");
    assert_eq!(receiver.reached_end(), None);
}

#[test]
fn many_short_blocks_are_bounded() {
    let mut receiver = ArriveWindow::new(WINDOW_MAX);
    for at in 0..BLOCKS_MAX as u64 {
        assert_eq!(receiver.offer(2 * at, block(1)), Ok(true));
    }
    let next = 2 * BLOCKS_MAX as u64;
    assert_eq!(receiver.offer(next, block(1)), Err(PipeViolation::Blocks));
    let mut sender = SendWindow::new(WINDOW_MAX);
    (0..BLOCKS_MAX).for_each(|_| sender.push(block(1)));
    assert_eq!(sender.room(), 0);
}

#[test]
fn what_was_not_sent_is_not_confirmed() {
    let mut sender = SendWindow::new(WINDOW);
    sender.push(block(10));
    sender.push(block(10));
    sender.take(1).unwrap();
    assert_eq!(sender.on_taken(10), Ok(()));
    assert_eq!(sender.on_taken(3), Ok(()), "older news");
    for taken in [15, 20, 30] {
        let sent = 20;
        let refused = sender.on_taken(taken);
        assert_eq!(refused, Err(PipeViolation::Taken { taken, sent }));
    }
}

fn opening() -> PipeOpening {
    PipeOpening {
        pipe: [9; 16],
        is_first: true,
        direction: CopyDirection::Put,
        place: PipePlace::Program(vec![b"zfs".to_vec(), b"receive".to_vec()]),
        window: WINDOW_MIN,
        taken: 0,
        rate_max: None,
        streams: Some(3),
    }
}

#[test]
fn an_opening_out_of_bounds_is_refused() {
    assert_eq!(opening().check(), Ok(()));
    let refused = |change: &dyn Fn(&mut PipeOpening)| {
        let mut wrong = opening();
        change(&mut wrong);
        wrong.check().unwrap_err().to_string()
    };
    assert!(refused(&|it| it.window = WINDOW_MAX + 1).contains("window"));
    assert!(refused(&|it| it.streams = Some(0)).contains("streams"));
    assert!(refused(&|it| it.streams = Some(129)).contains("streams"));
    assert!(refused(&|it| it.place = PipePlace::Program(Vec::new())).contains("program"));
    let words = vec![b"x".to_vec(); PROGRAM_WORDS_MAX + 1];
    assert!(refused(&|it| it.place = PipePlace::Program(words.clone())).contains("1025 words"));
    let long = vec![b"x".to_vec(), vec![b'y'; PROGRAM_BYTES_MAX]];
    assert!(refused(&|it| it.place = PipePlace::Program(long.clone())).contains("bytes"));
    let zero = PipePlace::File(b"a\0b".to_vec());
    assert!(refused(&|it| it.place = zero.clone()).contains("zero byte"));
    assert!(refused(&|it| it.place = PipePlace::File(Vec::new())).contains("file name"));
}

#[test]
fn messages_come_back_and_any_bytes_are_read_without_harm() {
    let message = PipeMessage::Open(Box::new(opening()));
    let frame = message.encode().unwrap();
    assert_eq!(PipeMessage::decode(6, frame[4..].to_vec()), Ok(message));
    let mut draw = Draw(5);
    for _ in 0..100_000 {
        let length = draw.next_u64() % 40;
        let bytes = (0..length).map(|_| draw.next_u64() as u8).collect();
        // A message or an error.
        let _ = PipeMessage::decode(6, bytes);
    }
}

//! A store against a model of its folder: any pieces in any order, losses, damage, ends at any
//! moment, and whatever befalls what is left meanwhile.
//!
//! `PROPTEST_CASES=1000000 cargo test --release -p trunkline-transfer --test files model` tries a
//! million; a case that fails is printed and made as small as it gets.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use copy_protocol::{ConversationState, Entry, FileId, Kind, Message, Published, Speaker};
use files::HashTree;
use files::store::{EntryPlan, Store};
use proptest::prelude::*;

use crate::common::{PIECE, content, open, opening, piece_of, read_back, told};

/// Around the sizes at which a file gets a journal and a second piece.
const SIZES: [u64; 7] = [0, 1, 65_535, 65_537, 131_072, 200_000, 400_001];

/// What happens in one try.
#[derive(Debug, Clone)]
struct Try {
    /// Which of the missing pieces comes next, and whether it comes right.
    pieces: Vec<(u16, bool)>,
    /// Files that are whole get their names before the try ends.
    publishes: bool,
    /// It is killed, without any cleanup.
    is_killed: bool,
    /// Before the next try.
    then: Vec<Event>,
}

/// What befalls a file between two tries: its number, and what.
#[derive(Debug, Clone)]
enum Event {
    /// The source gets another content of the same size and time, or of another size.
    Source(usize, Option<usize>),
    Flip(usize, u16),
    Punch(usize, u16),
    CutPart(usize, u16),
    CutJournal(usize, u16),
    FlipJournal(usize, u16),
    LosePart(usize),
    LoseJournal(usize),
    OpenToOthers(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    file: usize,
    size: u64,
    version: u64,
}

impl Source {
    fn content(&self) -> Vec<u8> {
        let mut bytes = content(self.size + self.version * 7 + self.file as u64);
        bytes.split_off((self.version * 7) as usize + self.file)
    }

    fn name(&self) -> String {
        format!("f{}", self.file)
    }

    fn entry(&self) -> Entry {
        Entry {
            version: self.version,
            ..told(&self.name(), Kind::File(self.size))
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    let (file, at) = (0..4_usize, any::<u16>());
    prop_oneof![
        (file.clone(), proptest::option::of(0..SIZES.len())).prop_map(|(f, s)| Event::Source(f, s)),
        (file.clone(), at).prop_map(|(f, at)| Event::Flip(f, at)),
        (file.clone(), at).prop_map(|(f, at)| Event::Punch(f, at)),
        (file.clone(), at).prop_map(|(f, at)| Event::CutPart(f, at)),
        (file.clone(), at).prop_map(|(f, at)| Event::CutJournal(f, at)),
        (file.clone(), at).prop_map(|(f, at)| Event::FlipJournal(f, at)),
        file.clone().prop_map(Event::LosePart),
        file.clone().prop_map(Event::LoseJournal),
        file.prop_map(Event::OpenToOthers),
    ]
}

fn one_try() -> impl Strategy<Value = Try> {
    let piece = (any::<u16>(), proptest::bool::weighted(0.85));
    (
        proptest::collection::vec(piece, 0..24),
        any::<bool>(),
        any::<bool>(),
        proptest::collection::vec(event(), 0..3),
    )
        .prop_map(|(pieces, publishes, is_killed, then)| Try {
            pieces,
            publishes,
            is_killed,
            then,
        })
}

/// The folder, and what may stand in it under each name.
struct World {
    place: tempfile::TempDir,
    sources: Vec<Source>,
    ever: BTreeSet<Source>,
}

impl World {
    fn new(sizes: &[usize]) -> Self {
        let new = |(file, size): (usize, &usize)| Source {
            file,
            size: SIZES[*size],
            version: 0,
        };
        let sources: Vec<Source> = sizes.iter().enumerate().map(new).collect();
        World {
            place: folder(),
            ever: sources.iter().copied().collect(),
            sources,
        }
    }

    /// One try; without a plan it goes to its end. Returns the files that were there.
    fn copy(&mut self, plan: Option<&Try>) -> Vec<usize> {
        let store = open(self.place.path());
        let mut copying = Copying::begin(&store, &self.sources);
        match plan {
            None => copying.finish(),
            Some(plan) => copying.follow(plan),
        }
        let present = (0..self.sources.len()).filter(|file| copying.trees[*file].is_none());
        let present = present.collect();
        if plan.is_none_or(|plan| plan.publishes) {
            copying.publish(self.place.path());
        }
        if plan.is_none() {
            assert_eq!(store.end(), []);
            let complete = copying.protocol.pass(Speaker::Far, Message::Complete);
            assert_eq!(complete, Ok(Message::Complete));
        }
        if plan.is_some_and(|plan| plan.is_killed) {
            // What is there now is all that a killed process leaves.
            let left = folder();
            for entry in fs::read_dir(self.place.path()).unwrap() {
                let path = entry.unwrap().path();
                let to = left.path().join(path.file_name().unwrap());
                fs::copy(&path, &to).unwrap();
                let modified = fs::metadata(&path).unwrap().modified().unwrap();
                let copied = fs::File::options().write(true).open(&to).unwrap();
                copied.set_modified(modified).unwrap();
            }
            drop(store);
            self.place = left;
        }
        present
    }

    /// Under each name stands the whole of what some version of its source was.
    fn check_names(&self) {
        for file in 0..self.sources.len() {
            let Ok(bytes) = fs::read(self.place.path().join(format!("f{file}"))) else {
                continue;
            };
            let versions = self.ever.iter().filter(|source| source.file == file);
            let is_known = versions.into_iter().any(|source| source.content() == bytes);
            assert!(is_known, "f{file} is none of its versions");
        }
    }

    fn befall(&mut self, event: &Event) {
        let count = self.sources.len();
        let place = self.place.path().to_owned();
        let part = |file: usize| place.join(format!(".f{}.trunkline-part", file % count));
        let journal = |file: usize| place.join(format!(".f{}.trunkline-journal", file % count));
        match event {
            Event::Source(file, size) => {
                let source = &mut self.sources[file % count];
                source.version += 1;
                source.size = size.map_or(source.size, |size| SIZES[size]);
                self.ever.insert(*source);
            }
            Event::Flip(file, at) => change(&part(*file), *at, |bytes| bytes[0] ^= 1),
            Event::Punch(file, at) => change(&part(*file), *at, |bytes| bytes.fill(0)),
            Event::FlipJournal(file, at) => change(&journal(*file), *at, |bytes| bytes[0] ^= 1),
            Event::CutPart(file, at) => cut(&part(*file), *at),
            Event::CutJournal(file, at) => cut(&journal(*file), *at),
            Event::LosePart(file) => {
                let _ = fs::remove_file(part(*file));
            }
            Event::LoseJournal(file) => {
                let _ = fs::remove_file(journal(*file));
            }
            Event::OpenToOthers(file) => {
                let mode = fs::Permissions::from_mode(0o666);
                let _ = fs::set_permissions(part(*file), mode);
            }
        }
    }
}

/// What is still to be sent in one try, and what both ends said.
struct Copying<'a> {
    store: &'a Store,
    sources: &'a [Source],
    protocol: ConversationState,
    trees: Vec<Option<HashTree>>,
    /// File and offset.
    missing: Vec<(usize, u64)>,
    whole: Vec<usize>,
}

impl<'a> Copying<'a> {
    fn begin(store: &'a Store, sources: &'a [Source]) -> Self {
        let protocol = ConversationState::opened(&opening(), false).unwrap();
        let mut copying = Copying {
            store,
            sources,
            protocol,
            trees: Vec::new(),
            missing: Vec::new(),
            whole: Vec::new(),
        };
        let entries: Vec<Entry> = sources.iter().map(Source::entry).collect();
        let bytes = sources.iter().map(|source| source.size).sum();
        let count = sources.len() as u32;
        copying.say(Speaker::Near, Message::Entries(entries.clone()));
        copying.say(
            Speaker::Near,
            Message::EntriesEnd {
                count,
                bytes,
                linked: 0,
            },
        );
        for (file, entry) in entries.iter().enumerate() {
            copying.answer(file, entry);
        }
        copying
    }

    fn say(&mut self, speaker: Speaker, message: Message) {
        let passed = self.protocol.pass(speaker, message.clone());
        assert_eq!(passed, Ok(message));
    }

    fn answer(&mut self, file: usize, entry: &Entry) {
        let (id, answer) = self.store.add(entry);
        assert_eq!(id, file as FileId);
        let mut answer = answer.unwrap();
        self.say(Speaker::Far, Message::Wants(vec![answer.want(id)]));
        let size = self.sources[file].size;
        let tree = match answer {
            EntryPlan::Present | EntryPlan::Made => None,
            EntryPlan::Whole => Some(HashTree::new(size)),
            EntryPlan::Rest(rest) => {
                let tree = read_back(self.store, id, size, &rest);
                let is_wrong =
                    |piece: &&files::store::Piece| !tree.covers(piece.offset, piece.length.into());
                let wrong = rest.noted.iter().filter(is_wrong);
                let parts = wrong
                    .map(|piece| (piece.offset, piece.length.into()))
                    .collect();
                let told = Message::ReadBack {
                    file: id,
                    parts,
                    is_all: true,
                };
                self.say(Speaker::Far, told);
                Some(tree)
            }
        };
        for part in tree.iter().flat_map(|tree| tree.missing(usize::MAX)) {
            let offsets = (part.start..part.end).step_by(PIECE as usize);
            self.missing.extend(offsets.map(|offset| (file, offset)));
        }
        let is_whole = tree.as_ref().is_some_and(|tree| tree.digest().is_some());
        self.trees.push(tree);
        if is_whole {
            self.end_of(file);
        }
    }

    fn follow(&mut self, plan: &Try) {
        for (pick, is_right) in &plan.pieces {
            if self.missing.is_empty() {
                return;
            }
            let at = usize::from(*pick) % self.missing.len();
            match is_right {
                true => self.piece(at),
                false => {
                    let (file, offset) = self.missing[at];
                    let bytes = vec![0xAA; PIECE.min(self.sources[file].size - offset) as usize];
                    self.store.write(file as FileId, offset, &bytes).unwrap();
                }
            }
        }
    }

    fn finish(&mut self) {
        while !self.missing.is_empty() {
            self.piece(0);
        }
    }

    /// One of the missing pieces arrives.
    fn piece(&mut self, at: usize) {
        let (file, offset) = self.missing.swap_remove(at);
        let source = self.sources[file];
        let bytes = source.content();
        let end = source.size.min(offset + PIECE) as usize;
        let bytes = &bytes[offset as usize..end];
        let piece = piece_of(source.size, offset, bytes);
        self.store.write(file as FileId, offset, bytes).unwrap();
        self.store.note(file as FileId, &piece).unwrap();
        let tree = self.trees[file].as_mut().unwrap();
        tree.insert(offset, piece.length.into(), piece.hash)
            .unwrap();
        if tree.digest().is_some() {
            self.end_of(file);
        }
    }

    fn end_of(&mut self, file: usize) {
        let digest = self.trees[file].as_ref().unwrap().digest().unwrap();
        assert_eq!(
            digest,
            *blake3::hash(&self.sources[file].content()).as_bytes()
        );
        self.say(Speaker::Near, Message::FileEnds(vec![file as FileId]));
        self.store.finish(file as FileId, &digest).unwrap();
        self.whole.push(file);
    }

    fn publish(&mut self, folder: &Path) {
        for (file, outcome) in self.store.publish() {
            outcome.unwrap();
            let source = self.sources[file as usize];
            let bytes = fs::read(folder.join(source.name())).unwrap();
            assert!(bytes == source.content(), "{} is wrong", source.name());
            let digest = *blake3::hash(&bytes).as_bytes();
            self.say(
                Speaker::Far,
                Message::Published(vec![Published { file, digest }]),
            );
        }
    }
}

/// In memory, where there is such a place.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).unwrap(),
        false => tempfile::tempdir().unwrap(),
    }
}

/// Changes up to 512 bytes, where there is such a file.
fn change(path: &Path, at: u16, how: impl Fn(&mut [u8])) {
    let Ok(file) = fs::File::options().read(true).write(true).open(path) else {
        return;
    };
    let length = file.metadata().unwrap().len();
    if length == 0 {
        return;
    }
    let at = u64::from(at) * 7919 % length;
    let mut bytes = vec![0; 512.min(length - at) as usize];
    file.read_exact_at(&mut bytes, at).unwrap();
    how(&mut bytes);
    file.write_all_at(&bytes, at).unwrap();
}

fn cut(path: &Path, at: u16) {
    if let Ok(file) = fs::File::options().write(true).open(path) {
        let length = file.metadata().unwrap().len();
        file.set_len(length * u64::from(at) / 65_536).unwrap();
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_same_command_completes_it(
        sizes in proptest::collection::vec(0..SIZES.len(), 1..4),
        tries in proptest::collection::vec(one_try(), 0..5),
    ) {
        let mut world = World::new(&sizes);
        for one in &tries {
            world.copy(Some(one));
            world.check_names();
            one.then.iter().for_each(|event| world.befall(event));
        }
        let present = world.copy(None);
        world.check_names();
        // Beside a small file that is there nothing is looked for: that would cost two calls for
        // each of millions of files. Its source has to have been larger in between, and to have got
        // the old size and time again.
        let is_unswept = |name: &String| present.iter().any(|file| {
            world.sources[*file].size <= 65_536 && name.starts_with(&format!(".f{file}.trunkline"))
        });
        let names: BTreeSet<_> = fs::read_dir(world.place.path()).unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !is_unswept(name))
            .collect();
        let wanted: BTreeSet<_> = world.sources.iter().map(Source::name).collect();
        prop_assert_eq!(names, wanted);
    }
}

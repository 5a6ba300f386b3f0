//! What befalls the files between two tries, and the source also while a copy runs.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use super::draw::Draw;
use super::world::{There, World, change, write};
use files::store::{Piece, testing::journal_of};

/// What befalls what is there.
#[derive(Debug, Clone, Copy)]
enum Event {
    Source,
    FlipPart,
    PunchPart,
    CutPart,
    LosePart,
    FlipJournal,
    CutJournal,
    LoseJournal,
    NoiseAsJournal,
    LieInJournal,
    OpenToOthers,
    LinkedPart,
    ForeignFile,
    ForeignLink,
    ForeignFolder,
    SameTime,
    FolderAsPart,
    FolderAsJournal,
    OthersFile,
    Remove,
}

const EVENTS: [Event; 22] = [
    Event::Source,
    Event::Source,
    Event::FlipPart,
    Event::PunchPart,
    Event::CutPart,
    Event::LosePart,
    Event::FlipJournal,
    Event::CutJournal,
    Event::LoseJournal,
    Event::NoiseAsJournal,
    Event::LieInJournal,
    Event::LieInJournal,
    Event::OpenToOthers,
    Event::LinkedPart,
    Event::ForeignFile,
    Event::ForeignLink,
    Event::ForeignFolder,
    Event::SameTime,
    Event::FolderAsPart,
    Event::FolderAsJournal,
    Event::OthersFile,
    Event::Remove,
];

impl World {
    /// Something befalls one file.
    pub fn meddle(&mut self, draw: &mut Draw) {
        let event = draw.pick(&EVENTS);
        let number = draw.below(self.originals.len());
        let name = self.originals[number].name.clone();
        draw.note(|| format!("{event:?} at {name}"));
        if matches!(event, Event::Source) {
            return self.change_source(number, draw);
        }
        if matches!(event, Event::OthersFile) {
            return self.put_others_file(draw);
        }
        self.originals[number].confirmed.clear();
        let (part, journal) = (self.beside(&name, "part"), self.beside(&name, "journal"));
        let is_there = part.parent().is_some_and(Path::is_dir);
        match event {
            _ if !is_there => {}
            Event::FlipPart => change_some(&part, draw, |bytes| bytes[0] ^= 1),
            Event::PunchPart => change_some(&part, draw, |bytes| bytes.fill(0)),
            Event::FlipJournal => change_some(&journal, draw, |bytes| bytes[0] ^= 1),
            Event::CutPart => cut(&part, draw),
            Event::CutJournal => cut(&journal, draw),
            Event::LosePart => clear(&part),
            Event::LoseJournal => clear(&journal),
            Event::NoiseAsJournal => {
                let content = self.content(draw);
                clear(&journal);
                write_private(&journal, content.bytes());
            }
            Event::LieInJournal => self.lie(number, &journal, draw),
            Event::OpenToOthers => {
                let _ = fs::set_permissions(&part, fs::Permissions::from_mode(0o666));
            }
            Event::LinkedPart => {
                let _ = fs::hard_link(&part, self.to.join("name of the part"));
                let _ = fs::remove_file(self.to.join("name of the part"));
            }
            Event::FolderAsPart => put_folder(&part),
            Event::FolderAsJournal => put_folder(&journal),
            other => self.meddle_with_name(other, number, draw),
        }
    }

    /// Something takes a file's final name.
    fn meddle_with_name(&mut self, event: Event, number: usize, draw: &mut Draw) {
        let place = self.place_of(&self.originals[number].name);
        let modified = self.originals[number].modified;
        clear(&place);
        let content = match event {
            Event::SameTime => self.content_of(self.originals[number].content.size, draw),
            _ => self.content(draw),
        };
        self.originals[number].before = match event {
            Event::ForeignFile => {
                write(&place, content, modified + Duration::from_secs(5));
                There::File(content)
            }
            Event::SameTime => {
                write(&place, content, modified);
                There::File(content)
            }
            Event::ForeignLink => {
                symlink("nowhere", &place).unwrap();
                There::Link(b"nowhere".to_vec())
            }
            // A destination that is a folder would take the file into it.
            Event::ForeignFolder if !self.options.is_one => {
                fs::create_dir(&place).unwrap();
                There::Other
            }
            _ => There::Nothing,
        };
    }

    /// A journal that names pieces that were never written.
    fn lie(&mut self, number: usize, journal: &Path, draw: &mut Draw) {
        let Ok(old) = fs::read(journal) else {
            return;
        };
        let mut notes = old.get(32..).unwrap_or_default().chunks_exact(48).count();
        notes += draw.below(3);
        let file = &self.originals[number];
        let size = file.content.size as u64;
        let Some(header) = files::store::testing::read_journal(&old) else {
            return;
        };
        let piece = |at: usize| {
            let offset = (at as u64 * 16_384) % size.max(1) / 16_384 * 16_384;
            Piece {
                offset,
                length: 16_384.min(size - offset.min(size)) as u32,
                hash: [at as u8; 32],
            }
        };
        let mut pieces: Vec<Piece> = header.pieces.clone();
        pieces.extend((0..notes).map(piece));
        let bytes = journal_of(
            header.size,
            header.modified_nanoseconds,
            header.version,
            &pieces,
        );
        write_private(journal, &bytes);
    }

    fn put_others_file(&mut self, draw: &mut Draw) {
        if !self.to.is_dir() {
            return;
        }
        let content = self.content(draw);
        let path = self.to.join(draw.pick(&["others", ".others", "f0.part"]));
        fs::write(&path, content.bytes()).unwrap();
        self.foreign.insert(path, content);
    }

    /// A file of the source becomes another.
    pub fn change_a_source(&mut self, draw: &mut Draw) {
        let number = draw.below(self.originals.len());
        self.change_source(number, draw);
    }

    fn change_source(&mut self, number: usize, draw: &mut Draw) {
        let how = draw.below(5);
        let size = match how {
            0..=2 => self.originals[number].content.size,
            _ => draw.pick(&super::world::SIZES),
        };
        let content = match how {
            2 => self.originals[number].content,
            _ => self.content_of(size, draw),
        };
        let path = self.from.join(&self.originals[number].name);
        draw.note(|| format!("  source {}, way {how}: {content:?}", path.display()));
        let file = &mut self.originals[number];
        if how == 2 {
            // Set back, or on.
            file.modified = match draw.chance(2) {
                true => file.modified + Duration::from_secs(3),
                false => file.modified - Duration::from_secs(3),
            };
        }
        let modified = file.modified;
        change(&path, || match how {
            // Another file takes its place.
            1 | 3 => {
                let beside = path.with_extension("new");
                write(&beside, content, modified);
                let mode = fs::metadata(&path).unwrap().permissions();
                fs::set_permissions(&beside, mode).unwrap();
                fs::rename(&beside, &path).unwrap();
            }
            _ => write(&path, content, modified),
        });
        file.content = content;
        file.lately.push(content);
        file.confirmed.clear();
    }
}

/// Changes up to 512 bytes, where there is such a file.
fn change_some(path: &Path, draw: &mut Draw, how: impl Fn(&mut [u8])) {
    let Ok(file) = File::options().read(true).write(true).open(path) else {
        return;
    };
    let length = file.metadata().unwrap().len();
    if length == 0 {
        return;
    }
    let at = draw.below(usize::try_from(length).unwrap()) as u64;
    let mut bytes = vec![0; 512.min(length - at) as usize];
    file.read_exact_at(&mut bytes, at).unwrap();
    how(&mut bytes);
    file.write_all_at(&bytes, at).unwrap();
}

fn cut(path: &Path, draw: &mut Draw) {
    if let Ok(file) = File::options().write(true).open(path) {
        let length = file.metadata().unwrap().len();
        file.set_len(length * draw.below(17) as u64 / 16).unwrap();
    }
}

/// Whatever is there goes.
fn clear(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else if path.symlink_metadata().is_ok() {
        fs::remove_file(path).unwrap();
    }
}

fn put_folder(path: &Path) {
    clear(path);
    fs::create_dir(path).unwrap();
}

/// As a copy makes its own files: for this user alone.
fn write_private(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

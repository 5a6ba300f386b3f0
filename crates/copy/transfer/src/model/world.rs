//! Both folders, and what must be true of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use copy_protocol::{
    Attributes, CopyDirection, CopyOptions, Entry, Filter, Opening, Problem, Selection,
};
use models::Objective;

use super::draw::Draw;
use files::Root;
use files::source::{Source, SourceSpec};
use files::store::{Store, StoreSpec};

/// Around the sizes of pieces, blocks and the smallest file with a journal.
pub(super) const SIZES: [usize; 13] = [
    0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 81_920, 98_305, 131_072, 131_073, 180_225,
];
/// Bytes of which all contents are parts: a third of any bytes, one that can be compressed, one
/// with long runs of zeros.
const NOISE: usize = 3 * THIRD;
const THIRD: usize = 2 << 20;
/// Bytes of the blocks of a file that are holes where all of them are zero.
const BLOCK: usize = 4096;

/// Content of a file: a part of the noise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content {
    start: usize,
    pub size: usize,
}

impl Content {
    pub fn bytes(self) -> &'static [u8] {
        &noise()[self.start..self.start + self.size]
    }
}

/// Short ones may be equal by chance.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let is_same = self.start == other.start && self.size == other.size;
        is_same || self.bytes() == other.bytes()
    }
}

impl Eq for Content {}

fn noise() -> &'static [u8] {
    static NOISE_BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    NOISE_BYTES.get_or_init(|| {
        let mut bytes = vec![0; NOISE];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        let (_, rest) = bytes.split_at_mut(THIRD);
        let (packed, sparse) = rest.split_at_mut(THIRD);
        packed.iter_mut().for_each(|byte| *byte &= 3);
        // From 4 KiB to some hundred, of holes and of data.
        for (number, run) in sparse.chunks_mut(9 * BLOCK + 1000).enumerate() {
            if [0, 1, 3, 4, 5, 6].contains(&(number % 9)) {
                run.fill(0);
            }
        }
        bytes
    })
}

/// A file of the source.
#[derive(Debug)]
pub(super) struct Original {
    /// Below the source and below the destination.
    pub name: String,
    pub content: Content,
    pub mode: u32,
    pub modified: SystemTime,
    /// What it was since the present try began.
    pub lately: Vec<Content>,
    /// What stood under its name in the destination when that was last looked at.
    pub before: There,
    /// Pieces (start and length) that were confirmed and that nothing has befallen since.
    pub confirmed: BTreeSet<(u64, u64)>,
}

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum There {
    Nothing,
    File(Content),
    Link(Vec<u8>),
    /// A folder, or something else that no file replaces.
    Other,
}

/// What was asked for; the same in all tries.
#[derive(Debug)]
pub(super) struct Options {
    pub direction: CopyDirection,
    pub filter: Filter,
    pub attributes: Attributes,
    pub verify: bool,
    pub compress: bool,
    /// One file gets the destination's name.
    pub is_one: bool,
}

pub(super) struct World {
    pub from: PathBuf,
    pub to: PathBuf,
    pub options: Options,
    pub originals: Vec<Original>,
    /// Links of the source: name and text.
    pub links: Vec<(String, String)>,
    pub has_folder: bool,
    /// Others' files in the destination, which nothing touches.
    pub foreign: BTreeMap<PathBuf, Content>,
    digests: HashMap<(usize, usize), [u8; 32]>,
    contents: usize,
}

impl World {
    /// Both folders, made anew in `place`.
    pub fn new(place: &Path, draw: &mut Draw) -> Self {
        let (from, to) = (place.join("from"), place.join("to"));
        for folder in [&from, &to] {
            let _ = fs::remove_dir_all(folder);
        }
        fs::create_dir(&from).unwrap();
        let options = options(draw);
        let mut world = World {
            from,
            to,
            options,
            originals: Vec::new(),
            links: Vec::new(),
            has_folder: false,
            foreign: BTreeMap::new(),
            digests: HashMap::new(),
            contents: 0,
        };
        world.fill(draw);
        if world.options.is_one || draw.chance(2) {
            fs::create_dir(&world.to).unwrap();
        }
        let options = &world.options;
        draw.note(|| format!("{options:?}"));
        world
    }

    fn fill(&mut self, draw: &mut Draw) {
        let count = match self.options.is_one {
            true => 1,
            false => 1 + draw.below(4),
        };
        for number in 0..count {
            let is_below = draw.chance(3) && !self.options.is_one;
            let name = match is_below {
                true => format!("d/f{number}"),
                false => format!("f{number}"),
            };
            self.has_folder |= is_below;
            self.add(draw, name);
        }
        if self.options.is_one {
            return;
        }
        if draw.chance(4) {
            fs::create_dir(self.from.join("e")).unwrap();
        }
        if draw.chance(3) {
            let text = draw.pick(&["f0", "nowhere", "e"]).to_owned();
            symlink(&text, self.from.join("l")).unwrap();
            self.links.push(("l".to_owned(), text));
        }
    }

    fn add(&mut self, draw: &mut Draw, name: String) {
        let path = self.from.join(&name);
        let _ = fs::create_dir(path.parent().unwrap());
        let content = self.content(draw);
        let number = self.originals.len() as u64;
        let modified = UNIX_EPOCH + Duration::new(1_000_000_000 + number, draw.pick(&[7, 0]));
        let mode = draw.pick(&[0o644, 0o600, 0o755, 0o666, 0o444]);
        write(&path, content, modified);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        draw.note(|| format!("{name}: {content:?}, mode {mode:o}"));
        self.originals.push(Original {
            name,
            content,
            mode,
            modified,
            lately: Vec::new(),
            before: There::Nothing,
            confirmed: BTreeSet::new(),
        });
    }

    /// One that was never there before.
    pub fn content(&mut self, draw: &mut Draw) -> Content {
        let size = draw.pick(&SIZES);
        self.content_of(size, draw)
    }

    pub fn content_of(&mut self, size: usize, draw: &mut Draw) -> Content {
        self.contents += 1;
        let third = THIRD * draw.below(3);
        Content {
            start: third + self.contents * 4099,
            size,
        }
    }

    pub fn digest(&mut self, content: Content) -> [u8; 32] {
        let digest = || *blake3::hash(content.bytes()).as_bytes();
        let digests = &mut self.digests;
        *digests
            .entry((content.start, content.size))
            .or_insert_with(digest)
    }

    /// A file's place in the destination.
    pub fn place_of(&self, name: &str) -> PathBuf {
        match self.options.is_one {
            true => self.to.join("one"),
            false => self.to.join(name),
        }
    }

    /// A temporary name beside a file's place.
    pub fn beside(&self, name: &str, ending: &str) -> PathBuf {
        let place = self.place_of(name);
        let last = place.file_name().unwrap().to_str().unwrap();
        place.with_file_name(format!(".{last}.trunkline-{ending}"))
    }

    pub fn original(&mut self, entry: &Entry) -> Option<&mut Original> {
        let name = entry.name.to_string();
        self.originals.iter_mut().find(|file| file.name == name)
    }

    /// What a copy is opened with. The paths are those of the far end.
    pub fn opening(&self, is_dry: bool) -> Opening {
        let Options {
            direction, filter, ..
        } = self.options;
        let path = match direction {
            CopyDirection::Put => self.destination(),
            CopyDirection::Get => self.sources(),
        };
        let options = CopyOptions {
            recursive: true,
            attributes: self.options.attributes,
            filter,
            verify: self.options.verify,
            dry_run: is_dry,
            compress: self.options.compress,
            objective: Objective::Max,
            ..CopyOptions::default()
        };
        Opening::new(direction, vec![path], &options)
    }

    fn destination(&self) -> Vec<u8> {
        let path = match self.options.is_one {
            true => self.to.join("one"),
            false => self.to.clone(),
        };
        path.as_os_str().as_bytes().to_vec()
    }

    fn sources(&self) -> Vec<u8> {
        let path = match self.options.is_one {
            true => self.from.join("f0"),
            false => self.from.join(""),
        };
        path.as_os_str().as_bytes().to_vec()
    }

    pub fn source(&self) -> Result<Arc<Source>, Problem> {
        let spec = SourceSpec {
            paths: vec![self.sources()],
            wildcards: self.options.direction == CopyDirection::Get,
            recursive: true,
            attributes: self.options.attributes,
            selection: Selection::default(),
        };
        Source::new(&Root::own(), spec)
    }

    pub fn store(&self, opening: &Opening) -> Result<Store, Problem> {
        let spec = StoreSpec {
            destination: self.destination(),
            into_folder: opening.into_folder,
            attributes: opening.attributes,
            filter: opening.filter,
            verify: opening.verify,
            dry_run: opening.dry_run,
            claim_timeout: Duration::ZERO,
        };
        Store::open(&Root::own(), spec)
    }

    /// Only what a source is from now on counts as what it was lately.
    pub fn begin_try(&mut self) {
        for file in &mut self.originals {
            file.lately = vec![file.content];
        }
    }

    /// Under each name stands what stood there before the try, or the whole of what its source was
    /// while it ran.
    pub fn check_names(&mut self) {
        for number in 0..self.originals.len() {
            let now = self.there(number);
            let file = &mut self.originals[number];
            let is_right = match &now {
                There::File(content) => file.lately.contains(content),
                _ => false,
            };
            let before = &file.before;
            assert!(
                is_right || now == *before,
                "{} was {before:?}, and is {now:?}",
                file.name
            );
            file.before = now;
        }
        for (path, content) in &self.foreign {
            let there = fs::read(path);
            let is_same = there.is_ok_and(|there| there == content.bytes());
            assert!(is_same, "{} is not what others put there", path.display());
        }
    }

    /// What stands under a file's name.
    fn there(&self, number: usize) -> There {
        let file = &self.originals[number];
        let place = self.place_of(&file.name);
        let Ok(stat) = fs::symlink_metadata(&place) else {
            return There::Nothing;
        };
        if stat.is_symlink() {
            let text = fs::read_link(&place).unwrap();
            return There::Link(text.as_os_str().as_bytes().to_vec());
        }
        if !stat.is_file() {
            return There::Other;
        }
        let bytes = fs::read(&place).unwrap();
        let mut known: Vec<Content> = file.lately.clone();
        if let There::File(before) = file.before {
            known.push(before);
        }
        let found = known.into_iter().find(|content| content.bytes() == bytes);
        let found = found.unwrap_or_else(|| panic!("{} is no version of it", place.display()));
        There::File(found)
    }
}

fn options(draw: &mut Draw) -> Options {
    Options {
        direction: draw.pick(&[CopyDirection::Put, CopyDirection::Get]),
        filter: draw.pick(&[
            Filter::Changed,
            Filter::Changed,
            Filter::All,
            Filter::Missing,
        ]),
        attributes: Attributes {
            permissions: draw.chance(2),
            times: !draw.chance(3),
            links: !draw.chance(3),
            kept: copy_protocol::Kept::NOTHING,
        },
        verify: draw.chance(3),
        compress: draw.chance(3),
        is_one: draw.chance(6),
    }
}

/// Writes a new file and sets its time.
/// Blocks of zeros become holes.
pub(super) fn write(path: &Path, content: Content, modified: SystemTime) {
    let file = File::create(path).unwrap();
    file.set_len(content.size as u64).unwrap();
    for (number, block) in content.bytes().chunks(BLOCK).enumerate() {
        if block.iter().any(|byte| *byte != 0) {
            file.write_all_at(block, (number * BLOCK) as u64).unwrap();
        }
    }
    file.set_modified(modified).unwrap();
}

/// Changes a file of the source so that the system shows it: the time of change moves on.
pub(super) fn change(path: &Path, how: impl Fn()) {
    let of =
        |path: &Path| fs::symlink_metadata(path).map(|it| (it.ino(), it.ctime(), it.ctime_nsec()));
    let before = of(path).unwrap();
    how();
    while of(path).unwrap() == before {
        std::thread::sleep(Duration::from_millis(1));
        how();
    }
}

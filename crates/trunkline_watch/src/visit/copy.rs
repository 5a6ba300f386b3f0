//! Visits that copy a test file from disk to disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use copy_protocol::{CopyEvent, CopyOptions, Token};
use observe::TargetError;
use transfer::{CopyControl, CopyObserver};
use units::{Address, Bytes, Rate, RateLimit, Span};

use super::{Deadline, Order, Part, failed};
use trunkline::copy::{Access, CopyRequest, Patience};
use trunkline::{Error, Target};

/// The delay that a gentle copy may add, as `trunkline copy --gentle` has it.
const GENTLE: Span = Span::from_millis(10);
/// Random bytes that are written one after another.
const BLOCK: usize = 1 << 20;

/// Where test files are copied to.
#[derive(Debug, Clone)]
pub(crate) struct FarFiles {
    /// The server.
    pub address: Address,
    /// What opens it.
    pub token: Token,
    /// The name of the file there.
    pub name: String,
}

/// Copies the test file of this size; it takes the place of the one of the visit before.
pub(super) fn copy(
    _target: &mut Target,
    order: &Order<'_>,
    size: Bytes,
    part: &mut Part,
    deadline: &mut Deadline<'_>,
) -> Result<(), TargetError> {
    let Some(far) = order.files else {
        return Err(failed(
            "the plan names no token for the far host, and copies need one",
            Some("add `token = \"FILE\"` to the host in the plan".to_owned()),
        ));
    };
    let file = prepared(&order.folder, size).map_err(|error| {
        failed(
            format!(
                "cannot write the test file of {size} in {}: {error}",
                order.folder.display()
            ),
            Some("free space there, or make the plan's `size` smaller".to_owned()),
        )
    })?;
    let request = request(&file, far, order).map_err(told)?;
    let control = CopyControl::default();
    let mut watching = Watching {
        control: &control,
        deadline,
    };
    let copied = trunkline::copy(&request, &control, &mut watching).map_err(told)?;
    if let Some(cut) = copied.cut {
        return Err(told(cut));
    }
    if let Some(problem) = copied.outcome.failed.first() {
        return Err(failed(problem.what.clone(), None));
    }
    let visit = &mut part.shown.visit;
    let bits = copied.outcome.sent.get() as f64 * 8.0;
    visit.goodput = Some(Rate::from_f64(bits / copied.outcome.took.as_secs_f64()));
    visit.limit = copied.outcome.limit.map(|limited| limited.by);
    Ok(())
}

fn request(file: &Path, far: &FarFiles, order: &Order<'_>) -> Result<CopyRequest, Error> {
    let there = format!("trunkline://{}/{}", far.address, far.name);
    let options = CopyOptions {
        compress: false,
        rate_max: order.rate_max.map(RateLimit::from),
        gentle: order.is_gentle.then_some(GENTLE),
        ..CopyOptions::default()
    };
    let access = Access {
        token: Some(far.token.clone()),
        via: far.address.via.clone(),
        patience: Patience::once_there(Span::from_secs(10)),
        ..Access::default()
    };
    CopyRequest::new(&[file.to_owned(), PathBuf::from(there)], options, access)
}

/// Ends the copy when the visit has to end; it is asked twice a second.
struct Watching<'a, 'b> {
    control: &'a CopyControl,
    deadline: &'a mut Deadline<'b>,
}

impl CopyObserver for Watching<'_, '_> {
    fn on_event(&mut self, _event: &CopyEvent) {
        if self.deadline.has_to_end() {
            self.control.stop();
        }
    }
}

/// The test file, with other bytes at its beginning than the last time, so that all of it is sent:
/// a changed file is.
fn prepared(folder: &Path, size: Bytes) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("test-{}.bin", size.get()));
    let is_whole = path.metadata().is_ok_and(|found| found.len() == size.get());
    if !is_whole {
        write(&path, size)?;
    }
    let mark: [u8; 16] = sockets::random::bytes()?;
    let length = mark
        .len()
        .min(usize::try_from(size.get()).unwrap_or(usize::MAX));
    let file = OpenOptions::new().write(true).open(&path)?;
    file.write_all_at(&mark[..length], 0)?;
    Ok(path)
}

/// Writes a file of random bytes, which no compression makes smaller.
fn write(path: &Path, size: Bytes) -> io::Result<()> {
    let mut random = File::open("/dev/urandom")?;
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    let mut block = vec![0; BLOCK];
    let mut left = size.get();
    while left > 0 {
        let length = BLOCK.min(usize::try_from(left).unwrap_or(BLOCK));
        io::Read::read_exact(&mut random, &mut block[..length])?;
        file.write_all(&block[..length])?;
        left -= length as u64;
    }
    file.sync_all()
}

fn told(error: Error) -> TargetError {
    failed(error.what(), error.hint().map(str::to_owned))
}

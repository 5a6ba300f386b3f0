//! What can be written after `trunkline verify`.

use std::path::PathBuf;

use clap::Args;
use trunkline::ask::verify::algorithm;
use trunkline::verify::{Algorithm, VerifyRequest};

/// Check files against a list of checksums, or a BagIt bag
///
/// Reads lists as `sha256sum`, `md5sum`, `b3sum` and their kin, `xrdadler32` and `xrdcrc32c` write
/// them, and bags of RFC 8493, on all processors. Prints what is not right. Exit code 0: all is
/// right; 1: something differs, is missing or is too much; 2: something could not be checked.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  trunkline verify SHA256SUMS\n  \
    trunkline verify run7.b3 /store/run7\n  \
    trunkline verify --algorithm adler32 raw.list /store\n  \
    trunkline verify /store/bag7")]
pub(crate) struct Verify {
    /// A list of checksums, `-` for one on standard input; or the folder of a BagIt bag
    #[arg(value_name = "LIST|BAG")]
    pub list: PathBuf,

    /// The folder that the names of the list are in [default: the current folder]
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// The checksum of a list that does not say it: blake3, sha512, sha384, sha256, sha224, sha1,
    /// md5, crc32c, crc32, adler32
    #[arg(short, long, value_name = "NAME", value_parser = algorithm)]
    pub algorithm: Option<Algorithm>,

    /// Print what is found as lines of JSON, and a last one that sums up
    #[arg(long)]
    pub json: bool,
}

impl Verify {
    /// What the library is asked.
    pub(crate) fn request(&self) -> VerifyRequest {
        VerifyRequest {
            list: self.list.clone(),
            folder: self.folder.clone(),
            algorithm: self.algorithm,
        }
    }
}

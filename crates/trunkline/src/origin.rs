//! Where documents of this process come from.

use std::env;

use record::Origin;

/// The origin of a document that this process makes now: its command line, this host, and the
/// seed of every random choice, where any was drawn.
pub fn origin(seed: Option<u64>) -> Origin {
    let words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    Origin::here(words.collect(), seed)
}

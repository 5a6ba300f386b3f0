//! Randomness that a peer cannot guess, from the kernel.

use std::fs::File;
use std::io::{self, Read};

/// Random bytes.
///
/// # Errors
/// When the kernel gives none.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A random number of 64 bits.
///
/// # Errors
/// When the kernel gives none.
pub fn number() -> io::Result<u64> {
    Ok(u64::from_ne_bytes(bytes()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_differ() {
        // Equal by chance once in 2^64.
        assert_ne!(number().unwrap(), number().unwrap());
    }
}

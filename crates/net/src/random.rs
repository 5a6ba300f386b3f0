//! Randomness that a peer cannot guess, from the kernel.

use std::fs::File;
use std::io::{self, Read};

use wire::copying::Secret;
use wire::{Cookie, EchoToken};

fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A new cookie.
pub(crate) fn cookie() -> io::Result<Cookie> {
    Ok(Cookie::from_random(&bytes()?))
}

/// A new token.
pub(crate) fn token() -> io::Result<EchoToken> {
    Ok(EchoToken(u64::from_ne_bytes(bytes()?)))
}

/// A number that nobody can guess.
pub(crate) fn number() -> io::Result<u64> {
    Ok(u64::from_ne_bytes(bytes()?))
}

/// A secret for two ends.
pub(crate) fn secret() -> io::Result<Secret> {
    Ok(Secret::new(bytes()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tokens_differ() {
        // Equal by chance once in 2^64.
        assert_ne!(token().unwrap(), token().unwrap());
    }
}

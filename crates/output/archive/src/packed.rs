//! Documents as they lie in the archive: JSON, compressed to about a twelfth.
//!
//! The form is that of RFC 1950 (zlib), so any language's library unpacks a document.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// `text` compressed.
pub(super) fn pack(text: &str) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(text.as_bytes());
    let packed = written.and_then(|()| encoder.finish());
    packed.expect("writing into memory does not fail")
}

/// The text again.
///
/// # Errors
/// When `packed` is not what [`pack`] gave.
pub(super) fn unpack(packed: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_and_takes_less_room() {
        let text = "{\"at_seconds\":1.5,\"bytes\":125000}\n".repeat(1000);
        let packed = pack(&text);
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpack(&packed).unwrap(), text);
    }

    #[test]
    fn what_was_cut_or_changed_is_refused() {
        let packed = pack("a document");
        assert!(unpack(&packed[..packed.len() - 1]).is_err());
        assert!(unpack(b"a document").is_err());
    }
}

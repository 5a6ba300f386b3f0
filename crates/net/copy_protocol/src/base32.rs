//! 32 bytes as letters and digits that survive a shell, a mail and a telephone.

/// Lower-case alphabet of RFC 4648, section 6.
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Five bits in each character.
const CHARACTERS: usize = 52;

pub(super) fn encode(bytes: &[u8; 32]) -> String {
    let bit = |at: usize| {
        let byte = bytes.get(at / 8).copied().unwrap_or_default();
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let character = |at: usize| (0..5).fold(0, |value, next| value << 1 | bit(at * 5 + next));
    (0..CHARACTERS)
        .map(|at| char::from(ALPHABET[character(at)]))
        .collect()
}

/// Nothing where a character is of another alphabet, their number is another, or the bits behind
/// the last byte are set.
pub(super) fn decode(text: &str) -> Option<[u8; 32]> {
    if text.len() != CHARACTERS {
        return None;
    }
    let mut bytes = [0; 33];
    for (at, character) in text.bytes().enumerate() {
        let value = ALPHABET.iter().position(|known| *known == character)?;
        for next in (0..5).filter(|next| value >> (4 - next) & 1 == 1) {
            let bit = at * 5 + next;
            bytes[bit / 8] |= 1 << (7 - bit % 8);
        }
    }
    match bytes[32] {
        0 => bytes[..32].try_into().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn agrees_with_the_published_vectors() {
        // RFC 4648, section 10: BASE32("foobar") = "MZXW6YTBOI======".
        let mut bytes = [0; 32];
        bytes[..6].copy_from_slice(b"foobar");
        assert_eq!(encode(&bytes)[..10], *"mzxw6ytboi");
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let text = encode(&[255; 32]);
        assert!(decode(&text.to_uppercase()).is_none());
        assert!(decode(&text[1..]).is_none());
        assert!(decode(&"7".repeat(52)).is_none(), "four bits too many");
        assert!(decode(&"é".repeat(26)).is_none());
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: [u8; 32]) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}

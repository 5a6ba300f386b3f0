//! What two ends share before they meet, and the keys that follow from it.

use std::fmt;

use super::base32;

/// Bytes of a secret, a key and a proof.
pub const KEY_LENGTH: usize = 32;

const CONTEXT: &str = "trunkline copy 1 key";

/// 32 random bytes that only the two ends know.
///
/// They are never sent. They are not shown by `Debug` either; [`Secret::text`] is for the token and
/// the tokens file.
#[derive(Clone)]
pub struct Secret([u8; KEY_LENGTH]);

/// What proves that an end knows a [`Secret`]: derived from it, so that the same secret serves
/// nothing else.
#[derive(Clone)]
pub struct Key([u8; KEY_LENGTH]);

impl Secret {
    /// Takes bytes that must come from the system's generator.
    pub const fn new(bytes: [u8; KEY_LENGTH]) -> Self {
        Secret(bytes)
    }

    /// The key of this secret.
    ///
    /// Source: BLAKE3 paper, section 2.3, mode `derive_key`.
    pub fn key(&self) -> Key {
        Key(blake3::derive_key(CONTEXT, &self.0))
    }

    /// 52 letters and digits: base32 (RFC 4648, section 6) in lower case, without padding.
    /// ```
    /// use copy_protocol::Secret;
    /// // 256 bits in groups of 5 are 51.2 characters.
    /// assert_eq!(Secret::new([0; 32]).text(), "a".repeat(52));
    /// ```
    pub fn text(&self) -> String {
        base32::encode(&self.0)
    }

    /// Reads what [`Secret::text`] wrote; nothing where it is anything else.
    pub fn from_text(text: &str) -> Option<Self> {
        base32::decode(text).map(Secret)
    }
}

impl Key {
    /// A key that no secret leads to in practice, for unknown names: checking against it takes as
    /// long as against a real one.
    pub(crate) fn without_owner() -> Self {
        Key(blake3::derive_key("trunkline copy 1 no owner", &[]))
    }

    /// Keyed hash of `parts`, one behind the other; each has a fixed length, or is a word that no
    /// other begins with.
    pub(crate) fn proof(&self, parts: &[&[u8]]) -> Proof {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in parts {
            hasher.update(part);
        }
        Proof(hasher.finalize())
    }

    /// A key that follows from this one and `salt`.
    pub(crate) fn derive(&self, context: &str, salt: &[u8; KEY_LENGTH]) -> Key {
        let material = [self.0, *salt].concat();
        Key(blake3::derive_key(context, &material))
    }
}

/// A keyed hash. Comparing two takes the same time wherever they differ, because [`blake3::Hash`]
/// does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Proof(blake3::Hash);

impl Proof {
    pub(crate) fn from_bytes(bytes: [u8; KEY_LENGTH]) -> Self {
        Proof(blake3::Hash::from_bytes(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; KEY_LENGTH] {
        self.0.as_bytes()
    }
}

/// Takes the same time wherever two differ.
impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        blake3::Hash::from_bytes(self.0) == blake3::Hash::from_bytes(other.0)
    }
}

impl Eq for Key {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// What TLS exported: the same at both ends of a connection and on no other connection.
pub type Exporter = [u8; KEY_LENGTH];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_comes_back_from_its_text_and_is_never_shown() {
        let secret = Secret::new([0xA5; 32]);
        let text = secret.text();
        assert_eq!(text.len(), 52);
        assert_eq!(Secret::from_text(&text).unwrap().0, secret.0);
        assert_eq!(
            format!("{secret:?} {:?}", secret.key()),
            "Secret(..) Key(..)"
        );
    }

    #[test]
    fn proofs_differ_by_key_and_by_what_is_proved() {
        let key = Secret::new([1; 32]).key();
        let other = Secret::new([2; 32]).key();
        let proof = key.proof(&[b"near", &[7; 32]]);
        assert_eq!(proof, key.proof(&[b"near", &[7; 32]]));
        assert_ne!(proof, key.proof(&[b"far", &[7; 32]]));
        assert_ne!(proof, other.proof(&[b"near", &[7; 32]]));
        assert_ne!(proof, key.derive("x", &[0; 32]).proof(&[b"near", &[7; 32]]));
    }
}

//! Names of one folder that other file systems take for the same: those of macOS and Windows know
//! no case, and some keep names in another normal form of Unicode than they were written in.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

/// What is left of a name where neither case nor normal form count.
pub(crate) fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) if text.is_ascii() => name.to_ascii_lowercase(),
        // Twice: the small letter of a composed one may be a composed one itself.
        Ok(text) => {
            let small: String = text.nfkd().flat_map(char::to_lowercase).collect();
            small.nfkd().collect::<String>().into_bytes()
        }
        Err(_) => name.to_ascii_lowercase(),
    }
}

/// The names of one folder as hashes of what is left of them, 8 bytes each.
#[derive(Debug, Default)]
pub(crate) struct FoldedNames(Vec<u64>);

impl FoldedNames {
    pub fn add(&mut self, name: &[u8]) {
        self.0.push(hash(name));
    }

    /// The hashes that occur more than once, in order. Two names may share one by chance.
    pub fn repeated(mut self) -> Vec<u64> {
        self.0.sort_unstable();
        let pairs = self.0.windows(2).filter(|pair| pair[0] == pair[1]);
        let mut repeated: Vec<u64> = pairs.map(|pair| pair[0]).collect();
        repeated.dedup();
        repeated
    }
}

pub(crate) fn hash(name: &[u8]) -> u64 {
    let hash = blake3::hash(&folded(name));
    let first = hash.as_bytes().first_chunk::<8>();
    u64::from_le_bytes(*first.unwrap_or(&[0; 8]))
}

/// Pairs of a name and an earlier one, in the order of bytes, whose folded forms are equal.
pub(crate) fn clashing(names: Vec<Vec<u8>>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut by_fold: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for name in names {
        by_fold.entry(folded(&name)).or_default().push(name);
    }
    let mut clashing = Vec::new();
    for mut same in by_fold.into_values() {
        same.sort();
        let mut same = same.into_iter();
        let Some(first) = same.next() else { continue };
        clashing.extend(same.map(|name| (name, first.clone())));
    }
    clashing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_normal_form_do_not_count() {
        for (one, other, clash) in [
            ("Run7", "run7", true),
            ("caf\u{e9}", "CAFE\u{301}", true),
            ("\u{1e9e}", "\u{df}", true),
            ("\u{fb01}n", "fin", true),
            ("run7", "run8", false),
            ("cafe", "caf\u{e9}", false),
        ] {
            let same = folded(one.as_bytes()) == folded(other.as_bytes());
            assert_eq!(same, clash, "{one} {other}");
        }
        assert_eq!(folded(b"A\xff"), b"a\xff");
        let names = [&b"b"[..], b"B", b"c"].map(<[u8]>::to_vec).to_vec();
        assert_eq!(clashing(names), [(b"b".to_vec(), b"B".to_vec())]);
    }
}

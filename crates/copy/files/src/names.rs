//! Names of very many entries in little memory: each is its folder and its last component.

/// Position of no entry: a name that stands for itself.
const NONE: u32 = u32::MAX;

/// Names by the position at which they were added.
#[derive(Debug, Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    entries: Vec<At>,
}

#[derive(Debug, Clone, Copy)]
struct At {
    parent: u32,
    start: u32,
    length: u16,
}

impl Names {
    /// How many.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds `last` in the folder at `parent`; `None` once 4 GiB of names, or as many entries as an
    /// id can count, are there.
    pub fn add(&mut self, parent: Option<u32>, last: &[u8]) -> Option<u32> {
        let id = u32::try_from(self.entries.len()).ok()?;
        let start = u32::try_from(self.bytes.len()).ok()?;
        let length = u16::try_from(last.len()).ok()?;
        if id == NONE {
            return None;
        }
        self.bytes.extend_from_slice(last);
        self.entries.push(At {
            parent: parent.unwrap_or(NONE),
            start,
            length,
        });
        Some(id)
    }

    /// The whole name of an entry, components parted by `/`.
    pub fn get(&self, id: u32) -> Option<Vec<u8>> {
        let mut parts = Vec::new();
        let mut next = id;
        while next != NONE {
            let at = self.entries.get(next as usize)?;
            parts.push(self.last(at));
            next = at.parent;
        }
        parts.retain(|part| !part.is_empty());
        parts.reverse();
        Some(join(&parts))
    }

    fn last(&self, at: &At) -> &[u8] {
        let start = at.start as usize;
        &self.bytes[start..start + usize::from(at.length)]
    }
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    let mut joined = Vec::new();
    for part in parts {
        if !joined.is_empty() && joined.last() != Some(&b'/') {
            joined.push(b'/');
        }
        joined.extend_from_slice(part);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_put_together_from_its_folders() {
        let mut names = Names::default();
        let top = names.add(None, b"/data/run7").unwrap();
        let deep = names.add(Some(top), b"x").unwrap();
        let file = names.add(Some(deep), b"hits.root").unwrap();
        assert_eq!(names.get(file).unwrap(), b"/data/run7/x/hits.root");
        assert_eq!(names.get(top).unwrap(), b"/data/run7");
        assert_eq!(names.get(9), None);
    }

    #[test]
    fn an_empty_or_closed_start_adds_no_slash() {
        let mut names = Names::default();
        let here = names.add(None, b"").unwrap();
        let file = names.add(Some(here), b"a").unwrap();
        assert_eq!(names.get(file).unwrap(), b"a");
        let root = names.add(None, b"/").unwrap();
        let below = names.add(Some(root), b"etc").unwrap();
        assert_eq!(names.get(below).unwrap(), b"/etc");
    }
}

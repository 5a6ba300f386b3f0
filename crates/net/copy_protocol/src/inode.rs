//! What else than content, mode and time belongs to a file: other names of it, owners, attributes,
//! the time when it was read last.
//!
//! A copy keeps these only where it was asked to. They are told in messages of their own, each
//! before its [`Entry`](crate::Entry), so that copies without them say what they said before.

use serde::{Deserialize, Serialize};

use crate::FileId;

/// Bytes of one attribute's value (xattr(7), `XATTR_SIZE_MAX`).
pub const VALUE_MAX: usize = 64 << 10;
/// Bytes of all attributes of one file, names included.
pub const ATTRIBUTES_MAX: usize = 192 << 10;
/// Bytes of an attribute's name (xattr(7), `XATTR_NAME_MAX`).
pub const ATTRIBUTE_NAME_MAX: usize = 255;
/// Bytes of the name of a user or group.
pub const OWNER_NAME_MAX: usize = 256;
/// The ACL of a file or folder, as `system` attribute (acl(5)).
pub const ACL_ACCESS: &[u8] = b"system.posix_acl_access";
/// The ACL of what is made in a folder.
pub const ACL_DEFAULT: &[u8] = b"system.posix_acl_default";

/// What of this is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// Names of one file become names of one file (hard links).
    pub hard_links: bool,
    /// Extended attributes whose names begin with `user.`.
    pub user_attributes: bool,
    /// POSIX ACLs.
    pub acls: bool,
    /// Owners and groups.
    pub owners: Option<OwnersBy>,
    /// Times of last access.
    pub access_times: bool,
}

/// How owners and groups are told from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OwnersBy {
    /// By their names, and by their numbers where the receiver knows no such name.
    Names,
    /// By their numbers.
    Numbers,
}

impl Kept {
    /// Nothing of it.
    pub const NOTHING: Kept = Kept {
        hard_links: false,
        user_attributes: false,
        acls: false,
        owners: None,
        access_times: false,
    };

    /// Whether anything of it is.
    pub fn any(self) -> bool {
        self != Kept::NOTHING
    }

    /// Whether files, folders or links themselves are to be changed for it.
    pub fn changes_inodes(self) -> bool {
        self.user_attributes || self.acls || self.owners.is_some() || self.access_times
    }

    /// The options that ask for it, for people.
    pub fn options(self) -> String {
        let all = [
            (self.hard_links, "--hard-links"),
            (self.user_attributes, "--xattrs"),
            (self.acls, "--acls"),
            (self.owners.is_some(), "--owner"),
            (self.access_times, "--atimes"),
        ];
        let asked = all.into_iter().filter(|(is_asked, _)| *is_asked);
        let asked: Vec<String> = asked.map(|(_, name)| format!("`{name}`")).collect();
        asked.join(", ")
    }
}

/// What else belongs to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inode {
    /// Which entry; it comes after this.
    pub file: FileId,
    /// It has several names.
    pub shared: Option<Shared>,
    /// Who owns it.
    pub owner: Option<Owner>,
    /// Its attributes, names in order.
    pub attributes: Vec<Attribute>,
    /// When it was accessed last, before the copy read it, in nanoseconds since 1970.
    pub accessed_nanoseconds: Option<i64>,
}

/// Which of several names of a file an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shared {
    /// The first; its content is sent with this one.
    First,
    /// A further one; the first is this entry.
    With(FileId),
}

/// Owner and group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// User number.
    pub user: u32,
    /// Group number.
    pub group: u32,
    /// The user's name, where names count and the sender knows it.
    pub user_name: Option<String>,
    /// The same of the group.
    pub group_name: Option<String>,
}

/// An extended attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Its whole name.
    pub name: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
}

impl Inode {
    /// One of which nothing is said.
    pub fn of(file: FileId) -> Self {
        Inode {
            file,
            shared: None,
            owner: None,
            attributes: Vec::new(),
            accessed_nanoseconds: None,
        }
    }

    /// Bytes of its attributes.
    pub fn bytes(&self) -> usize {
        let all = self.attributes.iter();
        all.map(|one| one.name.len() + one.value.len()).sum()
    }

    /// Whether it says nothing that `kept` did not ask for, and all of it is within its bounds.
    pub fn is_legal(&self, kept: Kept) -> bool {
        let names = self.owner.iter();
        let names = names.flat_map(|owner| [&owner.user_name, &owner.group_name]);
        let is_name =
            |name: &String| (1..=OWNER_NAME_MAX).contains(&name.len()) && !name.contains('\0');
        let are_asked = (self.shared.is_none() || kept.hard_links)
            && (self.owner.is_none() || kept.owners.is_some())
            && (self.accessed_nanoseconds.is_none() || kept.access_times);
        let is_later = |first: FileId| first < self.file;
        let shared = match self.shared {
            Some(Shared::With(first)) => is_later(first),
            Some(Shared::First) | None => true,
        };
        are_asked
            && shared
            && names.flatten().all(is_name)
            && self.bytes() <= ATTRIBUTES_MAX
            && self
                .attributes
                .is_sorted_by(|one, other| one.name < other.name)
            && self.attributes.iter().all(|one| one.is_legal(kept))
    }
}

impl Attribute {
    fn is_legal(&self, kept: Kept) -> bool {
        let Attribute { name, value } = self;
        let is_acl = name == ACL_ACCESS || name == ACL_DEFAULT;
        let is_user = name.starts_with(b"user.") && name.len() > 5 && !name.contains(&0);
        let is_kept = is_acl && kept.acls && is_acl_value(value) || is_user && kept.user_attributes;
        is_kept && name.len() <= ATTRIBUTE_NAME_MAX && value.len() <= VALUE_MAX
    }
}

/// Whether a value is an ACL as the kernel has it: a version, then entries of eight bytes, each
/// with a tag and rights that there are, in the order of their tags (`posix_acl_xattr.h`).
///
/// ```
/// use copy_protocol::is_acl_value;
/// let minimal = [2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 4, 0, 4, 0, 255, 255, 255, 255,
///     32, 0, 4, 0, 255, 255, 255, 255];
/// assert!(is_acl_value(&minimal));
/// assert!(!is_acl_value(&minimal[..27]));
/// ```
pub fn is_acl_value(value: &[u8]) -> bool {
    let Some(([2, 0, 0, 0], entries)) = value.split_first_chunk::<4>() else {
        return false;
    };
    let entries = entries.chunks_exact(8);
    if !entries.remainder().is_empty() || entries.len() < 3 {
        return false;
    }
    let tag = |entry: &[u8]| u16::from_le_bytes([entry[0], entry[1]]);
    let is_known = |entry: &[u8]| {
        let rights = u16::from_le_bytes([entry[2], entry[3]]);
        matches!(tag(entry), 0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x20) && rights <= 7
    };
    let are_known = entries.clone().all(is_known);
    let tags: Vec<u16> = entries.map(tag).collect();
    let once = |wanted: u16| tags.iter().filter(|tag| **tag == wanted).count() == 1;
    are_known && tags.is_sorted() && once(0x01) && once(0x04) && once(0x20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CopyDirection, CopyOptions, Frames, Message, Opening, encode_in};

    fn with(name: &[u8], value: &[u8]) -> Inode {
        Inode {
            attributes: vec![Attribute {
                name: name.to_vec(),
                value: value.to_vec(),
            }],
            ..Inode::of(7)
        }
    }

    /// An opening that asks for these.
    fn opening(kept: Kept) -> Message {
        let mut options = CopyOptions::default();
        options.attributes.kept = kept;
        let paths = vec![b"there".to_vec()];
        Message::Open(Box::new(Opening::new(CopyDirection::Put, paths, &options)))
    }

    #[test]
    fn an_opening_is_the_same_as_before_where_nothing_is_asked_for() {
        let (nothing, links) = (
            Kept::NOTHING,
            Kept {
                hard_links: true,
                ..Kept::NOTHING
            },
        );
        let of = |version, kept| encode_in(version, &opening(kept));
        assert_eq!(of(6, nothing), of(5, nothing));
        assert!(of(5, links).is_err(), "an older end is never asked");
        let frame = of(6, links).unwrap();
        let heard = Frames::messages().next_message(&mut frame.as_slice());
        assert_eq!(heard, Ok(Some(opening(links))));
        let old = Frames::of_version(5).next_message::<Message>(&mut frame.as_slice());
        assert!(old.is_err(), "{old:?}");
    }

    #[test]
    fn only_what_was_asked_for_is_legal() {
        let all = Kept {
            hard_links: true,
            user_attributes: true,
            acls: true,
            owners: Some(OwnersBy::Names),
            access_times: true,
        };
        assert!(with(b"user.a", b"").is_legal(all));
        let read = Inode {
            accessed_nanoseconds: Some(-1),
            ..Inode::of(7)
        };
        assert!(read.is_legal(all) && !read.is_legal(Kept::NOTHING));
        for name in [
            &b"security.selinux"[..],
            b"trusted.x",
            b"user.",
            b"system.x",
            b"user.a\0",
        ] {
            assert!(!with(name, b"").is_legal(all), "{name:?}");
        }
        assert!(!with(b"user.a", b"").is_legal(Kept {
            user_attributes: false,
            ..all
        }));
        assert!(!with(ACL_ACCESS, b"hello").is_legal(all));
        assert!(!with(b"user.a", &[0; VALUE_MAX + 1]).is_legal(all));
        let follower = |first| Inode {
            shared: Some(Shared::With(first)),
            ..Inode::of(7)
        };
        assert!(follower(6).is_legal(all) && !follower(7).is_legal(all));
        assert!(!follower(6).is_legal(Kept {
            hard_links: false,
            ..all
        }));
    }
}

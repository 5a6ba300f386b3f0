//! What a verification says: sentences for people, lines of JSON for programs.

use files::checksums::{Account, Found, Trouble};
use report::text::count;
use serde::Serialize;
use units::{Bytes, Rate, Span};

use super::result::Verified;

/// What happens, as a line of JSON has it.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum VerifyEvent<'a> {
    /// Something is not right.
    Trouble(&'a Trouble),
    /// How far it is.
    Progress(&'a Account),
    /// The end of it.
    Verified(&'a Verified),
}

impl<'a> From<Found<'a>> for VerifyEvent<'a> {
    fn from(found: Found<'a>) -> Self {
        match found {
            Found::Trouble(trouble) => VerifyEvent::Trouble(trouble),
            Found::Progress(account) => VerifyEvent::Progress(account),
        }
    }
}

impl VerifyEvent<'_> {
    /// The event as one line of JSON, with a line break at its end.
    pub fn to_line(&self) -> String {
        let line = serde_json::to_string(self);
        line.expect("events have texts as keys and no number that JSON lacks") + "\n"
    }
}

/// Where it is, for a line that renews itself.
pub fn progress(account: &Account) -> String {
    let Account {
        right,
        wrong,
        unchecked,
        bytes,
    } = *account;
    let further = match wrong + unchecked {
        0 => String::new(),
        not_right => format!(", {not_right} not right"),
    };
    let bytes = Bytes::new(bytes).human();
    format!("{}{further}, {bytes} read", count(right, "file"))
}

/// A trouble as a line.
pub fn trouble(trouble: &Trouble) -> String {
    format!("{}: {}\n", trouble.name, trouble.what)
}

/// The line at the end, where all is right.
pub fn all_right(verified: &Verified) -> String {
    let bytes = Bytes::new(verified.account.bytes);
    let is_timed = verified.took > Span::ZERO && bytes > Bytes::ZERO;
    let rate = match is_timed {
        true => format!(", {}", Rate::of(bytes, verified.took).human()),
        false => String::new(),
    };
    format!(
        "{}: {} right, {} in {}{rate} ({})\n",
        named(verified),
        count(verified.account.right, "file"),
        bytes.human(),
        verified.took.human(),
        verified.algorithms.join(", ")
    )
}

/// What is not right, and the next step.
pub fn not_right(verified: &Verified) -> (String, Option<String>) {
    let Account {
        right,
        wrong,
        unchecked,
        ..
    } = verified.account;
    let is = |number: u64| if number == 1 { "is" } else { "are" };
    let mut parts = Vec::new();
    if wrong > 0 {
        parts.push(format!("{wrong} {} not as it says", is(wrong)));
    }
    if unchecked > 0 {
        parts.push(format!("{unchecked} could not be checked"));
    }
    let what = format!(
        "{}: {}, {right} {} right",
        named(verified),
        parts.join(", "),
        is(right)
    );
    (what, next_step(verified))
}

fn next_step(verified: &Verified) -> Option<String> {
    if verified.is_elsewhere() {
        let folder = match &verified.folder {
            Some(folder) => format!("`{folder}`"),
            None => "the current folder".to_owned(),
        };
        return Some(format!(
            "names are taken from {folder}; name another one behind the list: \
                `trunkline verify LIST FOLDER`"
        ));
    }
    let hint = "`trunkline copy -r --checksum` sends again what differs or is missing";
    verified.is_for_copying().then(|| hint.to_owned())
}

fn named(verified: &Verified) -> String {
    match (verified.is_bag, verified.list.as_str()) {
        (true, folder) => format!("the bag `{folder}`"),
        (false, "-") => "the list".to_owned(),
        (false, list) => format!("`{list}`"),
    }
}

#[cfg(test)]
mod tests {
    use files::checksums::TroubleKind;

    use super::*;

    /// A list of which nothing is right.
    fn verified(folder: Option<&str>, kinds: &[TroubleKind]) -> Verified {
        let trouble = |kind: &TroubleKind| Trouble {
            kind: *kind,
            name: "a".to_owned(),
            what: "it is not right".to_owned(),
            line: None,
        };
        let wrong = kinds.iter().filter(|kind| kind.is_wrong()).count() as u64;
        Verified {
            list: "SHA256SUMS".to_owned(),
            folder: folder.map(str::to_owned),
            is_bag: false,
            algorithms: Vec::new(),
            account: Account {
                wrong,
                unchecked: kinds.len() as u64 - wrong,
                ..Account::default()
            },
            took: Span::ZERO,
            troubles: kinds.iter().map(trouble).collect(),
        }
    }

    fn hint(verified: &Verified) -> String {
        not_right(verified).1.unwrap_or_default()
    }

    #[test]
    fn the_folder_that_lacks_all_files_is_named() {
        let missing = [TroubleKind::Missing, TroubleKind::Missing];
        let here = hint(&verified(None, &missing));
        assert!(here.contains("from the current folder;"), "{here}");
        let elsewhere = hint(&verified(Some("/store/run 7"), &missing));
        assert!(elsewhere.contains("from `/store/run 7`;"), "{elsewhere}");
        let json = serde_json::to_string(&verified(Some("/store"), &missing)).unwrap();
        assert!(!json.contains("/store"), "{json}");
    }

    #[test]
    fn a_copy_is_proposed_where_it_would_mend_something() {
        let proposes = |kinds: &[TroubleKind]| {
            let text = hint(&verified(None, kinds));
            text.contains("copy -r --checksum")
        };
        assert!(proposes(&[TroubleKind::Differs]));
        assert!(proposes(&[TroubleKind::Bag, TroubleKind::Missing]));
        for kind in [
            TroubleKind::NotFetched,
            TroubleKind::NotListed,
            TroubleKind::Outside,
            TroubleKind::Bag,
            TroubleKind::Unreadable,
            TroubleKind::Improper,
        ] {
            assert!(!proposes(&[kind]), "{kind:?}");
        }
    }
}

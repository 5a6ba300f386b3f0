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
    let hint = match (verified.is_elsewhere(), wrong) {
        (true, _) => Some(
            "names are taken from the current folder; name another one behind the list: \
                `trunkline verify LIST FOLDER`",
        ),
        (false, 0) => None,
        (false, _) => Some("`trunkline copy -r --checksum` sends again what differs or is missing"),
    };
    (what, hint.map(str::to_owned))
}

fn named(verified: &Verified) -> String {
    match (verified.is_bag, verified.list.as_str()) {
        (true, folder) => format!("the bag `{folder}`"),
        (false, "-") => "the list".to_owned(),
        (false, list) => format!("`{list}`"),
    }
}

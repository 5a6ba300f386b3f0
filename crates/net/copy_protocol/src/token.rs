//! Tokens: what opens a standing server, and the file in which the server keeps them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use errors::{Fault, Hint};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::Rate;

use super::{Key, Name, Secret};

/// Longest name of a token, in bytes.
pub const KEY_NAME_MAX: usize = 64;

const PREFIX: &str = "tl1-";
/// What may stand behind a secret in the file.
const FURTHER: &str = "`root=SUBFOLDER`, `to=HOST[:PORT],...`, `copies=COUNT`, `streams=COUNT`, \
                       `rate=RATE`";
/// The most copies or streams that a bound can name.
const COUNT_MAX: u16 = 1024;

/// Name of a token: letters of ASCII, digits, `.`, `_` and `-`, at most [`KEY_NAME_MAX`] of them.
/// No secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyName(String);

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rights {
    /// Files may be taken away.
    pub read: bool,
    /// Files may be put there.
    pub write: bool,
}

/// What a user is given to reach a server: a name and a secret, as `tl1-NAME-SECRET`.
/// ```
/// use copy_protocol::Token;
/// let text = format!("tl1-lab-nas-{}", "a".repeat(52));
/// let token: Token = text.parse().unwrap();
/// assert_eq!(token.name.as_str(), "lab-nas");
/// assert_eq!(token.text(), text);
/// assert!(!format!("{token:?}").contains("aaa"));
/// ```
#[derive(Debug, Clone)]
pub struct Token {
    /// Under which the server knows it.
    pub name: KeyName,
    /// The secret part.
    pub secret: Secret,
}

/// Text that is no token. Tells nothing of the text, which may be most of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TokenTextError {
    /// Something else.
    #[error("this is no token: one is `tl1-NAME-SECRET`")]
    Form,
    /// Not the end of a token.
    #[error("the last part of this token is not 52 characters of a-z and 2-7")]
    Secret,
    /// The name is not one.
    #[error("{0}")]
    Name(KeyNameError),
}

impl Hint for TokenTextError {
    fn fault(&self) -> Fault {
        Fault::Request
    }

    fn hint(&self) -> Option<String> {
        let hint = "copy it again from where it was made, whole and on one line";
        Some(hint.to_owned())
    }
}

/// Text that is no name of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the name of a token has 1 to {KEY_NAME_MAX} letters of a-z, A-Z, digits, `.`, `_` or `-`; \
    this one has {}", told(*length, *wrong)
)]
pub struct KeyNameError {
    /// Its length in bytes.
    pub length: usize,
    /// The first character that may not be in it.
    pub wrong: Option<char>,
}

fn told(length: usize, wrong: Option<char>) -> String {
    match wrong {
        Some(' ') => "a space in it".to_owned(),
        Some(character) => format!("`{}` in it", character.escape_debug()),
        None => format!("{length} bytes"),
    }
}

impl KeyName {
    /// Checks the text.
    ///
    /// # Errors
    /// When it is empty, too long, or has another character.
    pub fn new(text: &str) -> Result<Self, KeyNameError> {
        let is_fine = |one: char| one.is_ascii_alphanumeric() || "._-".contains(one);
        let wrong = text.chars().find(|one| !is_fine(*one));
        match (1..=KEY_NAME_MAX).contains(&text.len()) && wrong.is_none() {
            true => Ok(KeyName(text.to_owned())),
            false => Err(KeyNameError {
                length: text.len(),
                wrong,
            }),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for KeyName {
    type Error = KeyNameError;

    fn try_from(text: String) -> Result<Self, KeyNameError> {
        KeyName::new(&text)
    }
}

impl From<KeyName> for String {
    fn from(name: KeyName) -> String {
        name.0
    }
}

impl Rights {
    /// Both.
    pub const ALL: Rights = Rights {
        read: true,
        write: true,
    };

    /// What both allow.
    pub fn and(self, other: Rights) -> Rights {
        Rights {
            read: self.read && other.read,
            write: self.write && other.write,
        }
    }
}

/// `rw`, `r`, `w`, or `-` where nothing is allowed.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.read, self.write) {
            (true, true) => "rw",
            (true, false) => "r",
            (false, true) => "w",
            (false, false) => "-",
        })
    }
}

fn rights_of(text: &str) -> Option<Rights> {
    let (read, write) = match text {
        "rw" => (true, true),
        "r" => (true, false),
        "w" => (false, true),
        _ => return None,
    };
    Some(Rights { read, write })
}

impl Token {
    /// The text for the user. It is a credential.
    pub fn text(&self) -> String {
        format!("{PREFIX}{}-{}", self.name, self.secret.text())
    }
}

impl FromStr for Token {
    type Err = TokenTextError;

    fn from_str(text: &str) -> Result<Self, TokenTextError> {
        let rest = text
            .trim()
            .strip_prefix(PREFIX)
            .ok_or(TokenTextError::Form)?;
        let (name, secret) = rest.rsplit_once('-').ok_or(TokenTextError::Form)?;
        Ok(Token {
            name: KeyName::new(name).map_err(TokenTextError::Name)?,
            secret: Secret::from_text(secret).ok_or(TokenTextError::Secret)?,
        })
    }
}

/// The tokens of a server: a text file with a line `NAME rw|r|w SECRET` for each. Behind it may
/// stand `root=SUBFOLDER`, a folder below the served one that the token is bound to,
/// `to=HOST[:PORT],...`, the hosts to which its holder may have this server send files, and
/// `copies=COUNT`, `streams=COUNT` and `rate=RATE`, its [`CopyBounds`]. Empty lines and what
/// follows `#` at the start of a line are left out.
/// ```
/// use copy_protocol::{Rights, Secret, Token, Tokens};
/// let token = Token { name: "ana".to_owned().try_into().unwrap(), secret: Secret::new([7; 32]) };
/// let file = format!("# people\n{}", Tokens::line(&token, Rights::ALL));
/// let tokens = Tokens::parse(&file).unwrap();
/// assert_eq!(tokens.find(&token.name).unwrap().1, Rights::ALL);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Tokens(BTreeMap<KeyName, Held>);

/// What a line says of its token.
#[derive(Debug, Clone)]
struct Held {
    key: Key,
    rights: Rights,
    folder: Name,
    targets: Targets,
    bounds: CopyBounds,
}

/// Bounds on all copies of one token together; none where a field says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyBounds {
    /// Copies at the same time, at least one.
    pub copies: Option<u16>,
    /// Streams of all copies, at least one.
    pub streams: Option<u16>,
    /// The rate of all copies in one direction; the other one has as much. Never zero.
    pub rate: Option<Rate>,
}

/// Hosts to which files may be sent: names or addresses, as they are written; with a port that port
/// alone, without it any.
/// ```
/// use copy_protocol::Targets;
/// let targets = Targets::parse("dtn.example.org,[2001:db8::7]:5201").unwrap();
/// assert!(targets.allows("DTN.example.org", 40_123));
/// assert!(targets.allows("2001:db8::7", 5201) && !targets.allows("2001:db8::7", 22));
/// assert!(!targets.allows("dtn.example.org.evil.example", 5201));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets(Vec<(String, Option<u16>)>);

/// A tokens file that cannot be used. Never holds what stands in the file, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the tokens file {what}")]
pub struct TokensError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: TokensMistake,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TokensMistake {
    /// Fewer than three.
    #[error("has {0} words; a line is `NAME rw|r|w SECRET`, and perhaps {FURTHER} behind it")]
    Words(usize),
    /// The first is no name.
    #[error("does not begin with a name: {0}")]
    Name(KeyNameError),
    /// The second is nothing that can be allowed.
    #[error("does not say `rw`, `r` or `w` behind the name")]
    Rights,
    /// The third is no secret.
    #[error("has no secret of 52 characters of a-z and 2-7 as its third word")]
    Secret,
    /// What follows is nothing that may. It may be a secret in the wrong place, so it is not
    /// repeated.
    #[error(
        "has something behind the secret that is none of {FURTHER}, each once; SUBFOLDER is below \
        the served one, without `..` and not `/` in front, COUNT 1 to 1024, and RATE more than zero"
    )]
    Further,
    /// The name stands there twice.
    #[error("names `{name}` again, which line {first} has")]
    Twice {
        /// Which.
        name: KeyName,
        /// The line before.
        first: usize,
    },
}

impl Tokens {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The first line that is none, by its number.
    pub fn parse(text: &str) -> Result<Self, TokensError> {
        let mut tokens = BTreeMap::new();
        let mut lines = BTreeMap::new();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let error = |what| TokensError { line, what };
            let Some((token, held)) = parse_line(text).map_err(error)? else {
                continue;
            };
            let name = token.name;
            if let Some(first) = lines.insert(name.clone(), line) {
                return Err(error(TokensMistake::Twice { name, first }));
            }
            tokens.insert(name, held);
        }
        Ok(Tokens(tokens))
    }

    /// A line of the file, with its end.
    pub fn line(token: &Token, rights: Rights) -> String {
        format!("{} {rights} {}\n", token.name, token.secret.text())
    }

    /// The key of that name and what it allows.
    pub fn find(&self, name: &KeyName) -> Option<(&Key, Rights)> {
        self.0.get(name).map(|held| (&held.key, held.rights))
    }

    /// The folder below the served one that the token of that name is bound to; the empty name is
    /// the served one itself.
    pub fn folder(&self, name: &KeyName) -> Option<&Name> {
        self.0.get(name).map(|held| &held.folder)
    }

    /// Where the holder of the token of that name may have files sent.
    pub fn targets(&self, name: &KeyName) -> Option<&Targets> {
        self.0.get(name).map(|held| &held.targets)
    }

    /// The bounds on copies of the token of that name; none where there is no such token.
    pub fn bounds(&self, name: &KeyName) -> CopyBounds {
        self.0.get(name).map(|held| held.bounds).unwrap_or_default()
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &KeyName> {
        self.0.keys()
    }
}

fn parse_line(line: &str) -> Result<Option<(Token, Held)>, TokensMistake> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, rights, secret, further @ ..] = words.as_slice() else {
        return Err(TokensMistake::Words(words.len()));
    };
    let name = KeyName::new(name).map_err(TokensMistake::Name)?;
    let rights = rights_of(rights).ok_or(TokensMistake::Rights)?;
    let secret = Secret::from_text(secret).ok_or(TokensMistake::Secret)?;
    let further = Further::parse(further).ok_or(TokensMistake::Further)?;
    let held = Held {
        key: secret.key(),
        rights,
        folder: further.folder.unwrap_or_default(),
        targets: further.targets.unwrap_or_default(),
        bounds: further.bounds,
    };
    Ok(Some((Token { name, secret }, held)))
}

/// What stands behind a secret.
#[derive(Default)]
struct Further {
    folder: Option<Name>,
    targets: Option<Targets>,
    bounds: CopyBounds,
}

impl Further {
    /// Nothing where a word is wrong or there twice.
    fn parse(words: &[&str]) -> Option<Self> {
        let mut all = Further::default();
        for word in words {
            let (what, text) = word.split_once('=')?;
            let was_there = match what {
                "root" => all.folder.replace(folder_of(text)?).is_some(),
                "to" => all.targets.replace(Targets::parse(text)?).is_some(),
                "copies" => all.bounds.copies.replace(count_of(text)?).is_some(),
                "streams" => all.bounds.streams.replace(count_of(text)?).is_some(),
                "rate" => all.bounds.rate.replace(rate_of(text)?).is_some(),
                _ => return None,
            };
            if was_there {
                return None;
            }
        }
        Some(all)
    }
}

fn count_of(text: &str) -> Option<u16> {
    let count = text.parse().ok()?;
    (1..=COUNT_MAX).contains(&count).then_some(count)
}

fn rate_of(text: &str) -> Option<Rate> {
    let rate: Rate = text.parse().ok()?;
    (rate > Rate::ZERO).then_some(rate)
}

fn folder_of(text: &str) -> Option<Name> {
    let name = Name::new(text.into()).ok()?;
    (!name.is_empty()).then_some(name)
}

/// As it is written, with a space before each.
impl fmt::Display for CopyBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(copies) = self.copies {
            write!(f, " copies={copies}")?;
        }
        if let Some(streams) = self.streams {
            write!(f, " streams={streams}")?;
        }
        if let Some(rate) = self.rate {
            write!(f, " rate={rate}")?;
        }
        Ok(())
    }
}

impl Targets {
    /// Reads `HOST[:PORT],...`; nothing where it is anything else.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',')
            .map(target)
            .collect::<Option<_>>()
            .map(Targets)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether files may be sent there.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        let fits = |(name, only): &(String, Option<u16>)| {
            name.eq_ignore_ascii_case(host) && only.is_none_or(|only| only == port)
        };
        self.0.iter().any(fits)
    }
}

/// As it is written.
impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (host, port)) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match (host.contains(':'), port) {
                (true, _) => write!(f, "{comma}[{host}]")?,
                (false, _) => write!(f, "{comma}{host}")?,
            }
            if let Some(port) = port {
                write!(f, ":{port}")?;
            }
        }
        Ok(())
    }
}

/// A host without brackets, and its port.
fn target(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, behind) = rest.split_once(']')?;
            let port = match behind {
                "" => None,
                behind => Some(behind.strip_prefix(':')?),
            };
            (host, port)
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_of_a_host = |sign: char| sign.is_ascii_alphanumeric() || "-._:%".contains(sign);
    let port = port
        .map(|port| port.parse::<u16>().ok())
        .map_or(Some(None), |port| port.map(Some));
    let fits = !host.is_empty() && host.chars().all(is_of_a_host);
    fits.then_some((host.to_owned(), port?))
}

#[cfg(test)]
mod tests;

//! What is said through ssh when it starts a far end: one line of JSON each way.
//!
//! The line that goes there has the secret, so that it never stands on a command line, where every
//! user of a host can read it. The one that comes back says where the far end listens. Both name
//! the version first, so that other versions are recognised: the near end the oldest that it
//! speaks, and behind it the newest; the far end the one that it has chosen.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::printable;

use super::{KEY_LENGTH, SPOKEN, Secret, Versions};

/// Longest line that is read.
pub const START_LINE_MAX: usize = 4 << 10;

const SOFTWARE_CHARACTERS: usize = 64;

/// What the far end has to know.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The oldest version of the protocol that will do, mostly the oldest that is spoken.
    pub oldest: u16,
    /// Known to the two ends of this copy alone.
    pub secret: Secret,
    /// Ports that may be listened on; any without.
    pub ports: Option<RangeInclusive<u16>>,
    /// The near end listens instead.
    pub back: Option<CallBack>,
}

/// Where the near end listens. Its address is the one from which ssh came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallBack {
    /// TCP port.
    pub port: u16,
    /// BLAKE3 of its certificate.
    pub fingerprint: [u8; KEY_LENGTH],
}

/// What the far end answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartAnswer {
    /// The version of the protocol that both ends speak from now on.
    pub version: u16,
    /// Its name and version, for people.
    pub software: String,
    /// Where it listens; none when it connects.
    pub port: Option<u16>,
    /// Addresses by which it may be reached.
    pub addresses: Vec<IpAddr>,
    /// BLAKE3 of the certificate that it shows there. The near end then knows it by that alone, a
    /// round trip earlier than by its secret.
    pub fingerprint: Option<[u8; KEY_LENGTH]>,
}

/// A line that does not start a copy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StartError {
    /// Something else.
    #[error("this is no line of trunkline's")]
    Stranger,
    /// Another version of the protocol.
    #[error("this end speaks version {ours} of the copy protocol, the peer version {theirs}")]
    Version {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
}

#[derive(Deserialize)]
struct VersionLine {
    trunkline_copy: u16,
    newest: Option<u16>,
}

#[derive(Serialize, Deserialize)]
struct RequestLine {
    trunkline_copy: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    newest: Option<u16>,
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ports: Option<(u16, u16)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back: Option<BackLine>,
}

#[derive(Serialize, Deserialize)]
struct BackLine {
    port: u16,
    fingerprint: [u8; KEY_LENGTH],
}

#[derive(Serialize, Deserialize)]
struct AnswerLine {
    trunkline_copy: u16,
    software: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    addresses: Vec<IpAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fingerprint: Option<[u8; KEY_LENGTH]>,
}

impl StartRequest {
    /// Its line, with the end.
    pub fn line(&self) -> String {
        line(&RequestLine {
            trunkline_copy: self.oldest,
            newest: (SPOKEN.newest > self.oldest).then_some(SPOKEN.newest),
            key: self.secret.text(),
            ports: self.ports.as_ref().map(|all| (*all.start(), *all.end())),
            back: self.back.map(|back| BackLine {
                port: back.port,
                fingerprint: back.fingerprint,
            }),
        })
    }

    /// Reads a line, and chooses the version that both ends speak.
    ///
    /// # Errors
    /// When it is of other versions. The error holds nothing of the line, which may be a secret.
    pub fn parse(line: &str) -> Result<(Self, u16), StartError> {
        let (read, version): (RequestLine, _) = read(line, SPOKEN)?;
        let request = StartRequest {
            oldest: read.trunkline_copy,
            secret: Secret::from_text(&read.key).ok_or(StartError::Stranger)?,
            ports: read.ports.map(|(first, last)| first..=last),
            back: read.back.map(|back| CallBack {
                port: back.port,
                fingerprint: back.fingerprint,
            }),
        };
        Ok((request, version))
    }
}

impl StartAnswer {
    /// Its line, with the end.
    pub fn line(&self) -> String {
        line(&AnswerLine {
            trunkline_copy: self.version,
            software: self.software.clone(),
            port: self.port,
            addresses: self.addresses.clone(),
            fingerprint: self.fingerprint,
        })
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When it is none of this version.
    /// ```
    /// use copy_protocol::{StartAnswer, StartError};
    /// let line = r#"{"trunkline_copy":5,"software":"trunkline 0.1.0","port":50000,"addresses":["192.0.2.7"]}"#;
    /// assert_eq!(StartAnswer::parse(line).unwrap().port, Some(50_000));
    /// assert_eq!(StartAnswer::parse("Welcome to host7!"), Err(StartError::Stranger));
    /// ```
    pub fn parse(line: &str) -> Result<Self, StartError> {
        let (read, version): (AnswerLine, _) = read(line, SPOKEN)?;
        Ok(StartAnswer {
            version,
            software: printable(&read.software, SOFTWARE_CHARACTERS),
            port: read.port,
            addresses: read.addresses,
            fingerprint: read.fingerprint,
        })
    }
}

impl StartError {
    /// The next step.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StartError::Version { ours, theirs } if ours < theirs => {
                Some("install the newer trunkline at this end")
            }
            StartError::Version { .. } => Some("install the newer trunkline at the other end"),
            StartError::Stranger => None,
        }
    }
}

fn line<T: Serialize>(value: &T) -> String {
    let text = serde_json::to_string(value).expect("numbers and strings always have a JSON text");
    text + "\n"
}

/// The versions are read by themselves first: the rest may be another one's.
fn read<'a, T: Deserialize<'a>>(line: &'a str, spoken: Versions) -> Result<(T, u16), StartError> {
    let said: VersionLine = serde_json::from_str(line).map_err(|_| StartError::Stranger)?;
    let theirs = Versions {
        oldest: said.trunkline_copy,
        newest: said.newest.unwrap_or(said.trunkline_copy),
    };
    let Some(version) = spoken.common(theirs) else {
        let (ours, theirs) = (spoken.newest, theirs.newest);
        return Err(StartError::Version { ours, theirs });
    };
    let rest = serde_json::from_str(line).map_err(|_| StartError::Stranger)?;
    Ok((rest, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_come_back() {
        let request = StartRequest {
            oldest: SPOKEN.oldest,
            secret: Secret::new([9; 32]),
            ports: Some(50_000..=50_100),
            back: Some(CallBack {
                port: 7,
                fingerprint: [3; 32],
            }),
        };
        let (read, version) = StartRequest::parse(&request.line()).unwrap();
        assert_eq!(version, SPOKEN.newest);
        assert_eq!(read.secret.text(), request.secret.text());
        assert_eq!((read.ports, read.back), (request.ports, request.back));
        let answer = StartAnswer {
            version: SPOKEN.oldest,
            software: "trunkline 0.1.0".to_owned(),
            port: None,
            addresses: vec!["2001:db8::1".parse().unwrap()],
            fingerprint: None,
        };
        let pinned = StartAnswer {
            fingerprint: Some([255; 32]),
            ..answer.clone()
        };
        assert_eq!(StartAnswer::parse(&pinned.line()), Ok(pinned.clone()));
        assert!(pinned.line().len() < START_LINE_MAX);
        assert_eq!(StartAnswer::parse(&answer.line()), Ok(answer.clone()));
        assert!(answer.line().len() < START_LINE_MAX);
        assert!(!answer.line().contains("null"), "{}", answer.line());
    }

    #[test]
    fn another_version_is_recognised_whatever_else_its_line_holds() {
        let refused = StartAnswer::parse(r#"{"trunkline_copy":9,"where":{}}"#).unwrap_err();
        assert_eq!(
            refused,
            StartError::Version {
                ours: SPOKEN.newest,
                theirs: 9
            }
        );
        assert!(refused.hint().unwrap().contains("at this end"));
    }

    #[test]
    fn a_range_is_read_by_an_end_that_knows_its_oldest_version_alone() {
        let line = r#"{"trunkline_copy":5,"newest":6,"key":"x"}"#;
        let chosen = |oldest, newest| {
            let read = read::<RequestLine>(line, Versions { oldest, newest });
            read.map(|(_, version)| version)
        };
        assert_eq!(chosen(5, 5), Ok(5));
        assert_eq!(chosen(5, 6), Ok(6));
        assert_eq!(chosen(4, 5), Ok(5));
        let (ours, theirs) = (4, 6);
        assert_eq!(chosen(3, 4), Err(StartError::Version { ours, theirs }));
    }

    #[test]
    fn a_wrong_key_is_not_repeated() {
        let line = r#"{"trunkline_copy":5,"key":"geheim"}"#;
        let error = StartRequest::parse(line).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("geheim"));
    }
}

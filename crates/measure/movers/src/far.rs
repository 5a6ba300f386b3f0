//! What a user names: a program, and the far end that its client is to reach.

use thiserror::Error;

use crate::Mover;

/// What is put behind the name of a file to have one that is only ours.
pub const TEST_SUFFIX: &str = ".trunkline-test";

/// The far end of a program's transfers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Far {
    /// The program.
    pub mover: Mover,
    /// As the user wrote it.
    pub asked: String,
    /// What stands before `://`, in lower case.
    pub scheme: String,
    /// With what stands before `@`, as `user` or `user:password`.
    pub user: Option<String>,
    /// The host, IPv6 without brackets; empty of an rclone remote, which may hide it.
    pub host: String,
    /// The port, where one was named.
    pub port: Option<u16>,
    /// The file, as its server knows it, or what stands behind `sftp+rclone:`. Empty of programs
    /// that only measure.
    pub path: String,
}

/// A name that is none of a far end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FarError {
    /// No host.
    #[error("`{asked}` names no host; write it like `{like}`")]
    NoHost {
        /// What was written.
        asked: String,
        /// What would do.
        like: &'static str,
    },
    /// No file.
    #[error("`{asked}` names no file; write it like `{like}`")]
    NoFile {
        /// What was written.
        asked: String,
        /// What would do.
        like: &'static str,
    },
    /// A path behind the address of a program that only measures.
    #[error(
        "`{asked}` goes on with `{path}`, and {program} moves no files; write it like `{like}`"
    )]
    NoFiles {
        /// What was written.
        asked: String,
        /// What is too much.
        path: String,
        /// The program.
        program: &'static str,
        /// What would do.
        like: &'static str,
    },
    /// A part that the program would take for an option.
    #[error("`{part}` of `{asked}` begins with a dash, which the program would take for an option")]
    Dash {
        /// What was written.
        asked: String,
        /// The part.
        part: String,
    },
    /// A character that no name has.
    #[error("`{asked}` holds a control character")]
    Control {
        /// What was written, escaped.
        asked: String,
    },
    /// No port.
    #[error("port `{port}` of `{asked}` is not a number from 1 to 65535")]
    Port {
        /// What was written.
        asked: String,
        /// The part behind the colon.
        port: String,
    },
}

impl Far {
    /// Reads a name; `None` of one that begins with no program's scheme.
    ///
    /// ```
    /// use movers::{Far, Mover};
    /// let far = Far::parse("gridftp://dtn.example.org:2811/store/file").unwrap().unwrap();
    /// assert_eq!((far.mover, far.port), (Mover::GridFtp, Some(2811)));
    /// assert_eq!(far.path, "/store/file");
    /// assert!(Far::parse("dtn.example.org:5201").is_none());
    /// ```
    ///
    /// # Errors
    /// When it begins like one and goes on otherwise.
    pub fn parse(asked: &str) -> Option<Result<Self, FarError>> {
        if let Some(remote) = asked.strip_prefix(RCLONE) {
            return Some(Far::remote(asked, remote));
        }
        let (scheme, rest) = asked.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let mover = Mover::of_scheme(&scheme)?;
        Some(Far::url(asked, scheme, mover, rest))
    }

    fn remote(asked: &str, remote: &str) -> Result<Self, FarError> {
        let far = Far {
            mover: Mover::Rclone,
            asked: asked.to_owned(),
            scheme: "sftp+rclone".to_owned(),
            user: None,
            host: inline_host(remote).to_owned(),
            port: None,
            path: remote.to_owned(),
        };
        let no_file = || FarError::NoFile {
            asked: asked.to_owned(),
            like: Mover::Rclone.example(),
        };
        let is_file = far
            .path
            .rsplit(':')
            .next()
            .is_some_and(|file| !file.is_empty());
        match remote.contains(':') && is_file && !far.path.ends_with('/') {
            true => far.checked(),
            false => Err(no_file()),
        }
    }

    fn url(asked: &str, scheme: String, mover: Mover, rest: &str) -> Result<Self, FarError> {
        let (place, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (Some(user.to_owned()), place),
            None => (None, place),
        };
        let (host, port) = host_and_port(asked, place)?;
        let far = Far {
            mover,
            asked: asked.to_owned(),
            scheme,
            user,
            host,
            port,
            path: decoded(path),
        };
        far.checked()
    }

    fn checked(self) -> Result<Self, FarError> {
        let asked = || self.asked.clone();
        if self.asked.chars().any(char::is_control) || self.path.chars().any(char::is_control) {
            let asked = self.asked.escape_debug().to_string();
            return Err(FarError::Control { asked });
        }
        let like = self.mover.example();
        let is_rclone = self.mover == Mover::Rclone;
        if self.host.is_empty() && !is_rclone {
            return Err(FarError::NoHost {
                asked: asked(),
                like,
            });
        }
        let parts = [self.host.as_str(), self.user.as_deref().unwrap_or_default()];
        let remote = is_rclone.then_some(self.path.as_str());
        let dashed = parts
            .into_iter()
            .chain(remote)
            .find(|part| part.starts_with('-'));
        if let Some(part) = dashed {
            return Err(FarError::Dash {
                asked: asked(),
                part: part.to_owned(),
            });
        }
        let path = self.path.trim_matches('/');
        match self.mover.moves_files() {
            true if path.is_empty() || self.path.ends_with('/') => Err(FarError::NoFile {
                asked: asked(),
                like,
            }),
            false if !path.is_empty() => Err(FarError::NoFiles {
                asked: asked(),
                path: self.path.clone(),
                program: self.mover.client().program(),
                like,
            }),
            _ => Ok(self),
        }
    }

    /// The host as it stands in a URL.
    pub fn host_in_url(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        }
    }

    /// `user@host:port` as it stands in a URL, each part where it is known.
    pub fn authority(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@"));
        let port = self.port.map(|port| format!(":{port}"));
        let (user, port) = (user.unwrap_or_default(), port.unwrap_or_default());
        format!("{user}{}{port}", self.host_in_url())
    }

    /// The same for people and documents: `PASSWORD` stands for a password.
    pub fn without_password(&self) -> Far {
        let user = self.user.as_deref().map(|user| match user.split_once(':') {
            Some((user, _)) => format!("{user}:{HIDDEN}"),
            None => user.to_owned(),
        });
        Far {
            asked: without_password(&self.asked),
            user,
            path: match self.mover {
                Mover::Rclone => without_password(&self.path),
                _ => self.path.clone(),
            },
            ..self.clone()
        }
    }

    /// Whether what is sent there is not kept.
    pub fn keeps_nothing(&self) -> bool {
        self.path == "/dev/null"
    }

    /// Where test data goes: beside the named file, or to it where that keeps nothing.
    pub fn test_path(&self) -> String {
        match self.keeps_nothing() {
            true => self.path.clone(),
            false => format!("{}{TEST_SUFFIX}", self.path),
        }
    }
}

/// The host of a remote that is written out, `:sftp,host=HOST,...:PATH`; that of one from rclone's
/// configuration is rclone's secret.
fn inline_host(remote: &str) -> &str {
    let options = remote.split([',', ':']);
    let mut hosts = options.filter_map(|option| option.strip_prefix("host="));
    hosts.next().unwrap_or_default()
}

/// What stands for a password.
const HIDDEN: &str = "PASSWORD";

/// `text` with `PASSWORD` for each password in it: behind the user of a URL, and behind `pass=` of
/// an rclone remote that is written out.
///
/// ```
/// let shown = movers::without_password("tune ftp://ana:secret@dtn/file");
/// assert_eq!(shown, "tune ftp://ana:PASSWORD@dtn/file");
/// ```
pub fn without_password(text: &str) -> String {
    let urls = replaced(text, "://", &['/', ' ', '\'', '"'], |place| {
        let (user, host) = place.rsplit_once('@')?;
        Some(format!("{}:{HIDDEN}@{host}", user.split_once(':')?.0))
    });
    replaced(&urls, ",pass=", &[',', ':'], |_| Some(HIDDEN.to_owned()))
}

/// `text` with `change` of what stands between each `mark` and the next of `ends`.
fn replaced(
    text: &str,
    mark: &str,
    ends: &[char],
    change: impl Fn(&str) -> Option<String>,
) -> String {
    let mut parts = text.split(mark);
    let mut told = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (place, rest) = part.split_at(part.find(ends).unwrap_or(part.len()));
        told.push_str(mark);
        told.push_str(&change(place).unwrap_or_else(|| place.to_owned()));
        told.push_str(rest);
    }
    told
}

/// Before an rclone remote.
const RCLONE: &str = "sftp+rclone:";

fn host_and_port(asked: &str, place: &str) -> Result<(String, Option<u16>), FarError> {
    let (host, port) = match place
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let number = |port: &str| match port.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(FarError::Port {
            asked: asked.to_owned(),
            port: port.to_owned(),
        }),
    };
    Ok((host.to_owned(), port.map(number).transpose()?))
}

/// `%20` and the like as the characters that they stand for; what stands for none stays.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, others @ ..] = rest {
        let code = others.get(..2).filter(|_| *first == b'%');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = &others[if code.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(asked: &str) -> Far {
        Far::parse(asked).unwrap().unwrap()
    }

    fn refusal(asked: &str) -> String {
        Far::parse(asked).unwrap().unwrap_err().to_string()
    }

    #[test]
    fn each_scheme_leads_to_its_program() {
        for (asked, mover) in [
            ("gridftp://h/f", Mover::GridFtp),
            ("gsiftp://h/f", Mover::GridFtp),
            ("FTP://h/f", Mover::GridFtp),
            ("root://h//f", Mover::Xrootd),
            ("sftp+rclone:store:dir/f", Mover::Rclone),
            ("iperf2://h", Mover::Iperf2),
            ("nuttcp://h:5000/", Mover::Nuttcp),
            ("scp://me@h:22/f", Mover::Scp),
        ] {
            assert_eq!(far(asked).mover, mover, "{asked}");
        }
    }

    #[test]
    fn parts_of_a_url_are_told_apart() {
        let one = far("scp://me@[fe80::1]:2222/a%20b/c d%");
        assert_eq!(
            (one.user.as_deref(), one.host.as_str()),
            (Some("me"), "fe80::1")
        );
        assert_eq!((one.port, one.path.as_str()), (Some(2222), "/a b/c d%"));
        assert_eq!(one.authority(), "me@[fe80::1]:2222");
        assert_eq!(one.test_path(), "/a b/c d%.trunkline-test");
        let remote = far("sftp+rclone::sftp,host=far,port=2222:dir/f");
        assert_eq!(remote.path, ":sftp,host=far,port=2222:dir/f");
        assert_eq!(remote.host, "far");
        assert_eq!(far("sftp+rclone:store:dir/f").host, "");
    }

    #[test]
    fn what_keeps_nothing_is_written_itself() {
        assert_eq!(far("ftp://h/dev/null").test_path(), "/dev/null");
    }

    #[test]
    fn wrong_names_are_refused_with_what_would_do() {
        assert!(refusal("gridftp:///f").contains("names no host"));
        assert!(refusal("gridftp://h").contains("names no file"));
        assert!(refusal("gridftp://h/dir/").contains("names no file"));
        assert!(refusal("sftp+rclone:store:").contains("names no file"));
        assert!(refusal("sftp+rclone:store").contains("names no file"));
        assert!(refusal("iperf2://h/f").contains("iperf moves no files"));
        assert!(refusal("iperf2://h:0").contains("port `0`"));
        assert!(refusal("iperf2://h:many").contains("port `many`"));
        assert!(refusal("scp://h/a%0ab").contains("control character"));
    }

    #[test]
    fn nothing_that_begins_with_a_dash_reaches_a_program() {
        for asked in [
            "scp://-oProxyCommand=x/f",
            "scp://-oProxyCommand=x@h/f",
            "sftp+rclone:--config=x:f",
            "iperf2://-s",
        ] {
            assert!(refusal(asked).contains("begins with a dash"), "{asked}");
        }
    }

    #[test]
    fn passwords_are_neither_shown_nor_kept() {
        for (asked, shown) in [
            ("ftp://ana:p@ss@h/f", "ftp://ana:PASSWORD@h/f"),
            ("ftp://ana@h/f", "ftp://ana@h/f"),
            ("ftp://h:21/a@b:c", "ftp://h:21/a@b:c"),
            (
                "sftp+rclone::sftp,host=h,pass=x1,user=me:f",
                "sftp+rclone::sftp,host=h,pass=PASSWORD,user=me:f",
            ),
            ("tune('ftp://ana:x@h/f')", "tune('ftp://ana:PASSWORD@h/f')"),
        ] {
            assert_eq!(without_password(asked), shown);
        }
        let far = far("ftp://ana:secret@h/f").without_password();
        assert_eq!(far.authority(), "ana:PASSWORD@h");
    }

    #[test]
    fn other_names_are_left_to_others() {
        for asked in ["host", "host:5201", "emu:lan", "http://h/f", "[::1]:5201"] {
            assert!(Far::parse(asked).is_none(), "{asked}");
        }
    }
}

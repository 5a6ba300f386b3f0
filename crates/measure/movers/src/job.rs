//! One run of a program's client.

use observe::{MoverCommand, Setting, Window};
use thiserror::Error;
use units::{Bytes, Span};

use crate::Far;

/// What one run is to do.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// With which far end.
    pub far: &'a Far,
    /// With which setting.
    pub setting: &'a Setting,
    /// Words that the user wants passed to the client, before ours.
    pub options: &'a [String],
    /// Where data comes from and goes to at this end.
    pub local: &'a Local,
    /// The longest that data is to flow.
    pub lasting: Span,
}

/// Test data at this end. Only names: who runs the job makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Local {
    /// A file of [`Local::size`] that holds nothing but zeros.
    pub file: String,
    /// A folder with so many files like it as the setting has streams.
    pub folder: String,
    /// A file that does not exist, to receive into.
    pub sink: String,
    /// More than passes in the time.
    pub size: Bytes,
}

/// A program, its arguments and further environment; never a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program's name, to be looked for in `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it needs in its environment beside the user's.
    pub environment: Vec<(String, String)>,
}

impl Invocation {
    /// `program` without arguments.
    pub fn of(program: &str) -> Self {
        Invocation {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    pub(crate) fn word(mut self, word: impl ToString) -> Self {
        self.arguments.push(word.to_string());
        self
    }

    pub(crate) fn flag(self, flag: &str, value: impl ToString) -> Self {
        self.word(flag).word(value)
    }

    pub(crate) fn flag_of<T: ToString>(self, flag: &str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.flag(flag, value),
            None => self,
        }
    }

    pub(crate) fn words(mut self, words: &[String]) -> Self {
        self.arguments.extend_from_slice(words);
        self
    }

    pub(crate) fn variable<T: ToString>(mut self, name: &str, value: Option<T>) -> Self {
        let value = value.map(|value| (name.to_owned(), value.to_string()));
        self.environment.extend(value);
        self
    }

    /// As the command that a user is to type.
    pub(crate) fn command(&self, note: Option<String>) -> MoverCommand {
        MoverCommand {
            program: self.program.clone(),
            line: self.line(),
            note,
        }
    }

    /// As people type it, quoted where a shell would take it apart.
    pub fn line(&self) -> String {
        let quoted = crate::quoting::quoted;
        let variables = self.environment.iter();
        let variables = variables.map(|(name, value)| format!("{name}={}", quoted(value)));
        let program = std::iter::once(quoted(&self.program));
        let arguments = self.arguments.iter().map(|word| quoted(word));
        let words: Vec<String> = variables.chain(program).chain(arguments).collect();
        words.join(" ")
    }
}

/// How what a run has left at the far end is removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Nothing is left.
    Nothing,
    /// By a program.
    Run(Invocation),
    /// By `DELE` of the FTP protocol, with a password or none.
    FtpDelete {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The user's name.
        user: String,
        /// The password.
        password: String,
        /// The file.
        path: String,
    },
}

/// What a program cannot do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Unable {
    /// What was asked for, and why it cannot be.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
}

pub(crate) fn unable(what: impl Into<String>, hint: impl Into<String>) -> Unable {
    Unable {
        what: what.into(),
        hint: Some(hint.into()),
    }
}

pub(crate) fn fixed(setting: &Setting) -> Option<u64> {
    match setting.window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes.get()),
    }
}

/// The number of bytes of a block, where one is asked for.
pub(crate) fn block(setting: &Setting) -> Option<u64> {
    setting.moving.block.map(Bytes::get)
}

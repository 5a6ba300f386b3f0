//! What callers ask for, as the text that the program takes.

use std::fmt::Display;
use std::str::FromStr;

use std::path::PathBuf;
use trunkline::units::{Family, Source, Via};

use pyo3::prelude::*;
use trunkline::ask;
use trunkline::history::{History, KeptSweep};
use trunkline::login::{self, Login, Padding, ServerUser};
use trunkline::measure::{Direction, Transport};
use trunkline::netpath::PathSpec as Spec;
use trunkline::{Target, TargetName, sweep};

use crate::error::Failure;
use crate::path::PathSpec;

/// Reads a value, or says what is wrong with which argument.
pub fn value<T>(
    name: &str,
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    read(text).map_err(|refusal| Failure::value(name, text, &refusal))
}

/// The same of an argument that may be left out.
pub fn optional<T>(
    name: &str,
    text: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failure> {
    text.map(|text| value(name, text, read)).transpose()
}

/// What carries streams, as the program names it.
pub fn transport(text: &str) -> Result<Transport, Failure> {
    match text {
        "tcp" => Ok(Transport::Tcp),
        "udp" => Ok(Transport::Udp),
        other => {
            let known = "possible values: tcp, udp";
            Err(Failure::value("transport", other, known))
        }
    }
}

/// A number within its type's bounds.
pub fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, Failure>
where
    T::Err: std::fmt::Display,
{
    value(name, text, |text| {
        text.parse::<T>().map_err(|error| error.to_string())
    })
}

/// Where results are kept.
#[derive(FromPyObject)]
pub enum Keep {
    /// At the default place, or nowhere.
    Default(bool),
    /// In this file.
    At(PathBuf),
}

impl Keep {
    /// The archive.
    pub fn history(&self) -> History {
        match self {
            Keep::Default(true) => History::at_default(),
            Keep::Default(false) => History::NOTHING,
            Keep::At(file) => History::at(file.clone()),
        }
    }
}

/// A path, by its name or built in Python.
#[derive(FromPyObject)]
pub enum PathAsked<'py> {
    /// Built or loaded before.
    Spec(PyRef<'py, PathSpec>),
    /// A named path or a file.
    Name(String),
}

impl PathAsked<'_> {
    /// The path.
    pub fn spec(&self) -> Result<Spec, Failure> {
        match self {
            PathAsked::Spec(spec) => Ok(Spec::clone(&spec.0)),
            PathAsked::Name(name) => Ok(trunkline::load_path(name)?),
        }
    }
}

/// What is measured.
#[derive(FromPyObject)]
pub enum TargetAsked<'py> {
    /// By its name.
    Name(String),
    /// A path, and whether it is simulated.
    On(PyRef<'py, PathSpec>, bool),
}

impl TargetAsked<'_> {
    /// The target by its name, with the port where it gives none.
    pub fn name(&self, port: u16) -> Result<TargetName, Failure> {
        Ok(match self {
            TargetAsked::Name(name) => TargetName::parse(name, port)?,
            TargetAsked::On(spec, is_simulated) => {
                let spec: Box<Spec> = Box::new(Spec::clone(&spec.0));
                match is_simulated {
                    true => TargetName::Simulated(spec),
                    false => TargetName::Emulated(spec),
                }
            }
        })
    }

    /// The words that it was asked with.
    pub fn words(&self) -> Option<&str> {
        match self {
            TargetAsked::Name(name) => Some(name),
            TargetAsked::On(..) => None,
        }
    }
}

/// How packets leave this host.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Leaving {
    ipv4: bool,
    ipv6: bool,
    bind: Option<String>,
    dscp: Option<String>,
}

impl Leaving {
    /// It, read.
    pub fn via(&self) -> Result<Via, Failure> {
        let (family, source) = from_where(self.ipv4, self.ipv6, self.bind.as_deref())?;
        Ok(Via {
            family,
            source,
            dscp: optional("dscp", self.dscp.as_deref(), read)?,
            multipath: false,
        })
    }
}

/// Who asks a server with users.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct LoginAsked {
    user: Option<String>,
    user_key: Option<PathBuf>,
    user_padding: String,
    password: Option<String>,
}

impl LoginAsked {
    /// The login at a target, which has to be a host.
    pub fn at(&self, target: &TargetName) -> Result<Option<Login>, Failure> {
        let Some(user) = self.user()? else {
            return Ok(None);
        };
        login::check_target(target)?;
        Ok(Some(login::log_in(&user, &self.password()?)?))
    }

    /// The user, where there is one.
    pub fn user(&self) -> Result<Option<ServerUser>, Failure> {
        let padding = value("user_padding", &self.user_padding, ask::padding)?;
        match (&self.user, &self.user_key) {
            (Some(user), Some(key)) => Ok(Some(login::user(user, key, padding)?)),
            (None, None) if self.password.is_none() && padding == Padding::Oaep => Ok(None),
            _ => Err(Failure::request(
                "`user` and `user_key` go together, and `user_padding` and `password` with both",
                "give the name and the file with the server's public key, or leave all out",
            )),
        }
    }

    /// Refuses another user than that of a kept sweep; `password` alone goes with that one.
    pub fn check_same(&self, kept: &KeptSweep) -> Result<(), Failure> {
        let names_none =
            self.user.is_none() && self.user_key.is_none() && self.user_padding == "oaep";
        let asked = match names_none && kept.plan.user.is_some() {
            true => None,
            false => self.user()?,
        };
        Ok(sweep::check_user(kept, asked.as_ref())?)
    }

    /// The password of the user: the argument, or that of the environment.
    pub fn password(&self) -> Result<String, Failure> {
        let password = match &self.password {
            Some(password) => Some(password.clone()),
            None => login::password_of_environment()?,
        };
        password.ok_or_else(|| {
            Failure::request(
                "there is no password for `user`",
                format!(
                    "give `password`, or set {} in the environment",
                    login::PASSWORD_VARIABLE
                ),
            )
        })
    }
}

/// Family and place that a socket is bound to.
pub fn from_where(
    ipv4: bool,
    ipv6: bool,
    bind: Option<&str>,
) -> Result<(Option<Family>, Source), Failure> {
    at_most_one(&[("ipv4", ipv4), ("ipv6", ipv6)])?;
    let family = match (ipv4, ipv6) {
        (true, _) => Some(Family::V4),
        (_, true) => Some(Family::V6),
        _ => None,
    };
    let source: Source = optional("bind", bind, read)?.unwrap_or_default();
    source.check(family).map_err(|clash| {
        let next = format!(
            "bind to an address of {}, or leave the family out",
            clash.family
        );
        Failure::request(clash.to_string(), next)
    })?;
    Ok((family, source))
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// The name with words for another program's client, which only such targets take.
pub fn with_words(name: TargetName, words: Vec<String>) -> Result<TargetName, Failure> {
    match (name, words.first()) {
        (TargetName::Mover { far, .. }, _) => Ok(TargetName::Mover {
            far,
            options: words,
        }),
        (name, None) => Ok(name),
        (_, Some(word)) => Err(no_mover(&format!("mover_option=[\"{word}\"]"))),
    }
}

/// What only other programs have is refused where trunkline itself moves the data.
pub fn no_mover(argument: &str) -> Failure {
    Failure::request(
        format!("`{argument}` is for another program, and this target is none"),
        "leave it out, or name a target like `gridftp://HOST/FILE`",
    )
}

/// Opens a target on the thread that uses it.
pub fn open(name: TargetName, seed: u64, login: Option<Login>) -> Result<Target, Failure> {
    let is_emulated = matches!(name, TargetName::Emulated(_));
    let opened = Target::open_as(name, seed, login).map_err(Failure::from);
    opened.map_err(|failure| match is_emulated {
        true => with_rights(failure),
        false => failure,
    })
}

/// What makes emulation possible in a process that has threads.
pub fn with_rights(failure: Failure) -> Failure {
    let is_of_rights = failure.causes.iter().any(|cause| {
        cause.contains("namespace") && (cause.contains("user") || cause.contains("may not"))
    });
    match is_of_rights && failure.kind != "Cancelled" {
        true => failure.with_hint(
            "Python has several threads, and only root can emulate then: start it as root, or \
             with `unshare --user --map-root-user python ...` as root of a namespace of your own; \
             `sim:` needs no rights",
        ),
        false => failure,
    }
}

/// Which end sends.
pub fn direction(reverse: bool, bidir: bool) -> Result<Direction, Failure> {
    match (reverse, bidir) {
        (true, true) => Err(exclusive("reverse", "bidir")),
        (true, _) => Ok(Direction::Reverse),
        (_, true) => Ok(Direction::Both),
        _ => Ok(Direction::Forward),
    }
}

/// Two arguments that exclude each other.
pub fn exclusive(one: &str, other: &str) -> Failure {
    Failure::request(
        format!("`{one}` cannot be used with `{other}`"),
        "leave out one of the two",
    )
}

/// Of these, at most one may be given.
pub fn at_most_one(given: &[(&str, bool)]) -> Result<(), Failure> {
    let mut names = given.iter().filter(|(_, is_given)| *is_given);
    match (names.next(), names.next()) {
        (Some((one, _)), Some((other, _))) => Err(exclusive(one, other)),
        _ => Ok(()),
    }
}

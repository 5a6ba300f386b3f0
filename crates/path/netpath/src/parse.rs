//! From TOML to a checked path. One file per table; here what they share.

mod cross;
mod cut;
mod hosts;
mod link;
mod load;
mod loss;
mod policer;
mod queue;
mod rate;
mod reorder;
mod trace;

use std::fmt;
use std::ops::RangeInclusive;

use toml::de::DeTable;
use units::{Bytes, Rate, Span};

use crate::PathError;
use crate::section::{Field, Section, Source};
use crate::spec::{Cross, Duplex, Hosts, LinkSpec, PathSpec};

/// Slower than a modem of 1962: surely a slip of the unit.
const RATE_MIN: Rate = Rate::from_bits_per_second(300);
/// Faster than any path that one program can carry packet by packet.
const RATE_MAX: Rate = Rate::from_bits_per_second(1_000_000_000_000);
/// Twice the distance to the Moon and back.
const DELAY_MAX: Span = Span::from_secs(10);
/// A row longer than most routes across one network; every link of it costs the machine that runs
/// it.
const LINKS_MAX: usize = 8;
/// Below one page Linux does not go; above 2 GiB its types end.
const BUFFER: RangeInclusive<Bytes> = Bytes::new(4096)..=Bytes::from_mib(2047);

pub(crate) fn parse(name: &str, file: &str, text: &str) -> Result<PathSpec, PathError> {
    let source = Source { file, text };
    let root = DeTable::parse(text).map_err(|error| PathError::Syntax {
        file: file.to_owned(),
        line: source.line_of(&error.span().unwrap_or(0..0)),
        message: syntax(text, &error),
    })?;
    let root = Section::new(source, "", root.span(), root.get_ref());
    let mut mistakes = Vec::new();
    let known = ["forward", "reverse", "before", "beyond", "hosts", "cross"];
    mistakes.extend(root.only(&known).err());
    let hosts = match hosts_of(&root) {
        Ok(hosts) => hosts,
        Err(error) => {
            mistakes.push(error);
            match hosts::mtu_alone(&root) {
                Some(mtu) => Hosts {
                    mtu,
                    ..Hosts::default()
                },
                // What links may be depends on it.
                None => return Err(PathError::several(mistakes)),
            }
        }
    };
    let links = links(&root, &hosts);
    let rows = rows(&root, hosts.mtu);
    match (links, rows) {
        (Ok((forward, reverse, cross)), Ok((before, beyond))) if mistakes.is_empty() => check_ipv6(
            &root,
            PathSpec {
                name: name.to_owned(),
                forward,
                reverse,
                before,
                beyond,
                hosts,
                cross,
            },
        ),
        (links, rows) => {
            mistakes.extend(links.err());
            mistakes.extend(rows.err());
            Err(PathError::several(mistakes))
        }
    }
}

fn hosts_of(root: &Section) -> Result<Hosts, PathError> {
    match root.section("hosts")? {
        Some(section) => hosts::hosts(&section),
        None => Ok(Hosts::default()),
    }
}

/// Smaller links do not carry IPv6 (RFC 8200, section 5).
const IPV6_MTU_MIN: u16 = 1280;

fn check_ipv6(root: &Section, path: PathSpec) -> Result<PathSpec, PathError> {
    let mtu = path.mtu();
    match path.hosts.ipv6 && mtu < IPV6_MTU_MIN {
        true => Err(root.refuse(
            "hosts",
            format!(
                "hosts with `ipv6 = true` on a path with an MTU of {mtu}, below {IPV6_MTU_MIN}"
            ),
            "raise `hosts.mtu` and the `mtu` of links to 1280 or more",
        )),
        false => Ok(path),
    }
}

/// The main link both ways, and who shares it.
fn links(root: &Section, hosts: &Hosts) -> Result<(LinkSpec, LinkSpec, Vec<Cross>), PathError> {
    let forward =
        root.required_section("forward", "add `[forward]` with `rate`, `delay`, `queue`")?;
    let forward = link::link(&forward, hosts.mtu)?;
    let reverse = match root.section("reverse")? {
        Some(section) => link::link(&section, hosts.mtu)?,
        None => link::mirrored(&forward),
    };
    let cross = cross::all(&root.sections("cross")?, &forward)?;
    Ok((forward, reverse, cross))
}

/// The links on both sides of the main one.
fn rows(root: &Section, mtu: u16) -> Result<(Vec<Duplex>, Vec<Duplex>), PathError> {
    let (before, beyond) = (root.sections("before")?, root.sections("beyond")?);
    check_count(&before, &beyond)?;
    Ok((row(&before, mtu)?, row(&beyond, mtu)?))
}

/// What the TOML reader says, with the name that it is about.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    let about = error.span().and_then(|span| text.get(span));
    let about = about.filter(|about| !about.trim().is_empty() && !about.contains('\n'));
    match about {
        Some(about) if message.contains("duplicate") => format!("{message} `{}`", about.trim()),
        _ => message.to_owned(),
    }
}

/// Links in a row.
fn row(sections: &[Section], mtu: u16) -> Result<Vec<Duplex>, PathError> {
    let links = sections.iter().map(|section| link::duplex(section, mtu));
    links.collect()
}

fn check_count(before: &[Section], beyond: &[Section]) -> Result<(), PathError> {
    let count = before.len() + 1 + beyond.len();
    let last = beyond.last().or(before.last());
    match last.filter(|_| count > LINKS_MAX) {
        Some(last) => Err(last.refuse_whole(
            format!("{count} links in a row are more than {LINKS_MAX}"),
            "leave out links that neither narrow nor delay",
        )),
        None => Ok(()),
    }
}

fn congestion_name(name: Field<&str>) -> Result<String, PathError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    // The kernel's TCP_CA_NAME_MAX is 16 with the closing zero.
    if name.value.is_empty() || name.value.len() > 15 || !name.value.chars().all(plain) {
        return Err(name.refuse(
            format!("`{}` is not the name of a congestion control", name.value),
            "kernel names are like `cubic`, `reno`, `bbr`".to_owned(),
        ));
    }
    match misspelt(name.value) {
        None => Ok(name.value.to_owned()),
        Some(meant) => Err(name.refuse(
            format!(
                "`{}` is not a congestion control that is known here",
                name.value
            ),
            format!("did you mean `{meant}`?"),
        )),
    }
}

/// Congestion controls of Linux and of the simulator with long enough names to be misspelt.
const CONGESTION: [&str; 17] = [
    "cubic",
    "reno",
    "newreno",
    "westwood",
    "vegas",
    "hybla",
    "illinois",
    "highspeed",
    "scalable",
    "dctcp",
    "tahoe",
    "ledbat",
    "path-model",
    "rbudp",
    "netblt",
    "ensemble",
    "htcp",
];

/// The known name that `name` nearly is. Names with figures are versions, like `bbr3`, and a kernel
/// may have any.
fn misspelt(name: &str) -> Option<&'static str> {
    let is_version = name.ends_with(|c: char| c.is_ascii_digit());
    if is_version || CONGESTION.contains(&name) {
        return None;
    }
    CONGESTION
        .into_iter()
        .find(|known| strsim::osa_distance(known, name) == 1)
}

fn kind<'a>(section: &Section<'a>, known: &[&str]) -> Result<Field<'a, &'a str>, PathError> {
    let names = known.join(", ");
    let kind = section.text("kind")?;
    let kind = kind.ok_or_else(|| section.missing("kind", &format!("known kinds: {names}")))?;
    match known.contains(&kind.value) {
        true => Ok(kind),
        false => Err(kind.refuse(
            format!("`{}` is not a known kind", kind.value),
            format!("known kinds: {names}"),
        )),
    }
}

fn within<T: PartialOrd + Copy + fmt::Display>(
    field: Field<T>,
    bound: RangeInclusive<T>,
    what: &str,
    hint: &str,
) -> Result<T, PathError> {
    if bound.contains(&field.value) {
        return Ok(field.value);
    }
    let (low, high) = (bound.start(), bound.end());
    let problem = format!("{what} of {} is not between {low} and {high}", field.value);
    Err(field.refuse(problem, hint.to_owned()))
}

#[cfg(test)]
mod tests;

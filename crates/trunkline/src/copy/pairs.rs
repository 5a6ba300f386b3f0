//! Pairs of addresses over which the streams of a copy are dealt: what cannot be combined with
//! them, and whether this host has them.

use copy_protocol::{CopyOptions, PAIRS_MAX};
use observe::Transport;
use sockets::options::{OptionError, StreamOptions};
use units::{AddressPair, PairChoice, Source, Via};

use crate::{Error, Fault};

/// Pairs that were asked for, and what they may not go with.
pub(super) struct PairsAsked<'a> {
    pub pairs: &'a [PairChoice],
    /// How all connections leave this host.
    pub via: &'a Via,
    pub is_between_others: bool,
    pub from_far: bool,
    pub transport: Transport,
}

/// Those that were asked for, and whether all addresses that the far end tells were. Where one does
/// not say from where, that of all connections holds.
///
/// # Errors
/// What they cannot be combined with, or which one this host cannot send from.
pub(super) fn pairs(
    asked: &PairsAsked<'_>,
    options: &CopyOptions,
) -> Result<(Vec<AddressPair>, bool), Error> {
    if asked.pairs.is_empty() {
        return Ok((Vec::new(), false));
    }
    combined(asked, options)?;
    if asked.pairs.contains(&PairChoice::All) {
        return all_addresses(asked, options).map(|()| (Vec::new(), true));
    }
    counted(asked.pairs, options)?;
    let named = asked.pairs.iter().filter_map(|choice| match choice {
        PairChoice::All => None,
        PairChoice::One(pair) => Some(pair),
    });
    let pairs = named.map(|pair| AddressPair {
        source: match pair.source == Source::default() {
            true => asked.via.source.clone(),
            false => pair.source.clone(),
        },
        far: pair.far,
    });
    let pairs: Vec<AddressPair> = pairs.collect();
    for (at, pair) in pairs.iter().enumerate() {
        if pairs.iter().take(at).any(|before| before == pair) {
            let what = format!("`--via` names {pair} twice");
            return Err(Error::wrong_request(what, "name each pair once"));
        }
        possible(pair, asked.via)?;
    }
    Ok((pairs, false))
}

/// Data without encryption would go to whichever host has an address that the far end tells.
fn all_addresses(asked: &PairsAsked<'_>, options: &CopyOptions) -> Result<(), Error> {
    let (what, hint) = match asked.pairs {
        [_] if options.plain => (
            "`--via all` and `--plain` exclude each other: it is by the certificate of its \
             encrypted connections that the far end is told from other hosts with its addresses",
            "leave out one of the two, or name the addresses",
        ),
        [_] => return Ok(()),
        _ => (
            "`--via all` and further addresses exclude each other",
            "write `--via all` alone, or name all addresses",
        ),
    };
    Err(Error::wrong_request(what, hint))
}

fn combined(asked: &PairsAsked<'_>, options: &CopyOptions) -> Result<(), Error> {
    let (what, hint) = match asked {
        it if it.is_between_others => (
            "`--via` cannot be used between two other hosts, whose connections this one does not \
             make",
            "start the copy at one of the two hosts",
        ),
        it if it.from_far => (
            "`--via` and `--connect from-far` exclude each other: the far end would have to choose \
             the addresses",
            "leave out one of the two",
        ),
        it if it.transport == Transport::Udp => (
            "`--via` is for TCP, and this copy has `--transport udp`",
            "leave out one of the two",
        ),
        _ if options.gentle.is_some() => (
            "`--via` and `--gentle` exclude each other: a gentle copy follows the delay of one \
             path",
            "leave out one of the two; `--max-rate` bounds a copy over several pairs of addresses",
        ),
        _ => return Ok(()),
    };
    Err(Error::wrong_request(what, hint))
}

fn counted(pairs: &[PairChoice], options: &CopyOptions) -> Result<(), Error> {
    let count = pairs.len();
    if count > usize::from(PAIRS_MAX) {
        return Err(Error::wrong_request(
            format!("`--via` names {count} pairs of addresses, and a copy has at most {PAIRS_MAX}"),
            "name fewer",
        ));
    }
    match options.streams {
        Some(streams) if usize::from(streams.get()) < count => Err(Error::wrong_request(
            format!(
                "`--streams {streams}` is fewer than the {count} pairs of addresses of `--via`"
            ),
            "ask for a stream for each pair at least, or leave `--streams` out",
        )),
        _ => Ok(()),
    }
}

/// Whether this host can send so.
fn possible(pair: &AddressPair, via: &Via) -> Result<(), Error> {
    let via = Via {
        source: pair.source.clone(),
        ..via.clone()
    };
    if !via.fits(&pair.far) {
        return Err(Error::wrong_request(
            format!(
                "`--via` names {pair}, which is not of the family that `-4`, `-6` or `--bind` \
                 asks for"
            ),
            "leave out `-4`, `-6` and `--bind`, or name addresses of that family in `--via`",
        ));
    }
    let options = StreamOptions {
        via,
        ..StreamOptions::default()
    };
    options.try_towards(pair.far).map_err(not_here)
}

/// What this host does not grant was a wrong request.
pub(super) fn not_here(error: OptionError) -> Error {
    let refused = Error::sentence(Fault::Request, error.to_string(), None);
    match error.hint() {
        Some(hint) => refused.with_hint(hint),
        None => refused,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, CopyRequest};
    use super::*;
    use observe::StreamCount;
    use units::Span;

    fn access(pairs: &[&str]) -> Access {
        Access {
            pairs: pairs.iter().map(|text| text.parse().unwrap()).collect(),
            ..Access::default()
        }
    }

    fn asked(access: Access, options: CopyOptions) -> Result<Vec<String>, String> {
        let request = CopyRequest::new(&["run7", "dtn:/store"], options, access);
        let request = request.map_err(|error| error.to_string())?;
        let pairs = request.spec.pairs.iter().map(ToString::to_string);
        let all = request.spec.all_addresses.then(|| "all".to_owned());
        Ok(all.into_iter().chain(pairs).collect())
    }

    #[test]
    fn pairs_leave_from_where_all_connections_do() {
        let bound = Access {
            via: Via {
                source: "127.0.0.1".parse().unwrap(),
                ..Via::default()
            },
            ..access(&["127.0.0.2", "127.0.0.3=127.0.0.4"])
        };
        let pairs = asked(bound, CopyOptions::default()).unwrap();
        assert_eq!(pairs, ["127.0.0.1=127.0.0.2", "127.0.0.3=127.0.0.4"]);
    }

    #[test]
    fn all_addresses_are_asked_for_alone_and_with_encryption() {
        let usual = CopyOptions::default;
        assert_eq!(asked(access(&["all"]), usual()).unwrap(), ["all"]);
        let refused = |pairs: &[&str], options| asked(access(pairs), options).unwrap_err();
        assert!(refused(&["all", "127.0.0.1"], usual()).contains("further addresses"));
        assert!(refused(&["all", "all"], usual()).contains("further addresses"));
        let plain = CopyOptions {
            plain: true,
            ..usual()
        };
        assert!(refused(&["all"], plain).contains("--plain"));
        let one = CopyOptions {
            streams: StreamCount::new(1).ok(),
            ..usual()
        };
        assert_eq!(asked(access(&["all"]), one).unwrap(), ["all"]);
    }

    #[test]
    fn what_pairs_cannot_be_combined_with_is_named() {
        let two = || access(&["127.0.0.1", "127.0.0.2"]);
        let usual = CopyOptions::default;
        let refused = |access, options| asked(access, options).unwrap_err();
        let udp = Access {
            transport: Transport::Udp,
            ..two()
        };
        assert!(refused(udp, usual()).contains("udp"));
        let from_far = Access {
            from_far: true,
            ..two()
        };
        assert!(refused(from_far, usual()).contains("from-far"));
        let gentle = CopyOptions {
            gentle: Some(Span::from_millis(10)),
            ..usual()
        };
        assert!(refused(two(), gentle).contains("--gentle"));
        let one = CopyOptions {
            streams: StreamCount::new(1).ok(),
            ..usual()
        };
        assert!(refused(two(), one).contains("`--streams 1`"));
        let twice = access(&["127.0.0.1", "127.0.0.1"]);
        assert!(refused(twice, usual()).contains("twice"));
        let nowhere = access(&["192.0.2.1=192.0.2.2"]);
        assert!(refused(nowhere, usual()).contains("192.0.2.1"));
        let many: Vec<String> = (1..=17).map(|last| format!("127.0.0.{last}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(refused(access(&many), usual()).contains("at most 16"));
    }
}

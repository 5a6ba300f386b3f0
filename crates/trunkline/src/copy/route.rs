//! From where to where.

use std::path::PathBuf;

use copy_protocol::CopyDirection;
use units::Span;

use super::place::{Place, PlaceError, wrong};

/// scp's `-C` and rsync's `-P` stand alone, and would take a place for their value here.
const TWO_PLACES: &str = "name what to copy, and as the last where to; `-C` and `-P` take a value \
                          here (`-z` compresses)";

/// Where to, from where: at least one of the two ends is elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// From here to there.
    Put {
        /// Names here.
        sources: Vec<PathBuf>,
        /// The place there.
        destination: Place,
    },
    /// From there to here.
    Get {
        /// Places there, all on one host.
        sources: Vec<Place>,
        /// The name here.
        destination: PathBuf,
    },
    /// From one other host to another, at the command of this one.
    ThirdParty {
        /// Places of the source, all on one host.
        sources: Vec<Place>,
        /// The place of the destination.
        destination: Place,
    },
}

/// What stands for standard input and output elsewhere.
const STANDARD: &str = "-";

impl Route {
    /// Which way the files go, seen from the end that opens the copy.
    pub fn direction(&self) -> CopyDirection {
        match self {
            Route::Put { .. } | Route::ThirdParty { .. } => CopyDirection::Put,
            Route::Get { .. } => CopyDirection::Get,
        }
    }

    /// A place at the far end.
    pub fn far(&self) -> Option<&Place> {
        match self {
            Route::Put { destination, .. } | Route::ThirdParty { destination, .. } => {
                Some(destination)
            }
            Route::Get { sources, .. } => sources.first(),
        }
    }

    /// A place at the source of a third-party copy.
    pub fn commanded(&self) -> Option<&Place> {
        match self {
            Route::ThirdParty { sources, .. } => sources.first(),
            Route::Put { .. } | Route::Get { .. } => None,
        }
    }

    /// Reads all places, the last of which is the destination.
    ///
    /// # Errors
    /// When they name no copy from one end to the other.
    pub fn parse(texts: &[PathBuf]) -> Result<Self, PlaceError> {
        if texts.iter().any(|text| text.as_os_str() == STANDARD) {
            return wrong(
                "`-` is standard input or output, which a copy cannot go on with once it broke",
                "`trunkline pipe - HOST:FILE` and `trunkline pipe HOST:FILE -` take it; a file of \
                 that name is written ./-",
            );
        }
        let places: Result<Vec<Place>, PlaceError> = texts
            .iter()
            .map(|text| Place::parse(text.as_os_str()))
            .collect();
        let mut sources = places?;
        if let Some(value) = sources.iter().find_map(stray_duration) {
            return wrong(
                format!("`{value}` is a time, and no file has that name"),
                format!(
                    "values of `--gentle` and `--follow` are written with `=`: --gentle={value}, \
                     --follow={value}"
                ),
            );
        }
        let Some(destination) = sources.pop() else {
            return wrong("there is nothing to copy", TWO_PLACES);
        };
        if sources.is_empty() {
            let named = texts.first().map(|text| text.display().to_string());
            let named = named.unwrap_or_default();
            return wrong(
                format!("`{named}` is the only place that is named"),
                TWO_PLACES,
            );
        }
        let near = sources.iter().filter(|place| place.is_here()).count();
        match (near == sources.len(), near == 0, destination) {
            (true, _, Place::Here(_)) => wrong(
                "both ends are on this host",
                "use cp; or name the other host: HOST:PATH or trunkline://HOST/PATH",
            ),
            (true, _, destination) => Ok(Route::Put {
                sources: sources.iter().filter_map(Place::here).collect(),
                destination,
            }),
            (_, true, Place::Here(destination)) => Ok(Route::Get {
                sources: from_one_host(sources)?,
                destination,
            }),
            (_, true, destination) => Ok(Route::ThirdParty {
                sources: from_one_host(sources)?,
                destination,
            }),
            (false, false, _) => wrong(
                "some sources are here and some on another host",
                "copy them with two commands",
            ),
        }
    }
}

/// `10ms` among the places, where no file has that name.
fn stray_duration(place: &Place) -> Option<String> {
    let path = place.here().filter(|path| !path.exists())?;
    let text = path.to_str()?;
    text.parse::<Span>().ok().map(|_| text.to_owned())
}

fn from_one_host(sources: Vec<Place>) -> Result<Vec<Place>, PlaceError> {
    let first = sources.first();
    match sources
        .iter()
        .all(|one| first.is_some_and(|first| first.is_beside(one)))
    {
        true => Ok(sources),
        false => wrong(
            "the sources are on several hosts",
            "copy from each host with a command of its own",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh(destination: &str, path: &str) -> Place {
        Place::Ssh {
            destination: destination.to_owned(),
            path: path.as_bytes().to_vec(),
        }
    }

    fn route(texts: &[&str]) -> Result<Route, PlaceError> {
        let texts: Vec<PathBuf> = texts.iter().map(PathBuf::from).collect();
        Route::parse(&texts)
    }

    #[test]
    fn an_end_is_here_or_both_are_elsewhere() {
        let put = Route::Put {
            sources: vec!["a".into(), "b".into()],
            destination: ssh("dtn", "x"),
        };
        assert_eq!(route(&["a", "b", "dtn:x"]), Ok(put));
        let get = Route::Get {
            sources: vec![ssh("dtn", "x"), ssh("dtn", "y")],
            destination: ".".into(),
        };
        assert_eq!(route(&["dtn:x", "dtn:y", "."]), Ok(get));
        let third_party = Route::ThirdParty {
            sources: vec![ssh("a", "x"), ssh("a", "y")],
            destination: ssh("b", "z"),
        };
        assert_eq!(route(&["a:x", "a:y", "b:z"]), Ok(third_party));
    }

    #[test]
    fn routes_that_are_none_are_told_with_the_next_step() {
        let table: [(&[&str], &str, &str); 8] = [
            (&["a:x", "b:y", "c:z"], "several hosts", "its own"),
            (&["10ms", "a", "b:y"], "is a time", "--gentle=10ms"),
            (&["a", "b:y", "10ms"], "is a time", "--gentle=10ms"),
            (&["a", "b"], "both ends are on this host", "use cp"),
            (
                &["a", "b:y", "c:z"],
                "some sources are here",
                "two commands",
            ),
            (&["a", "b:y", "."], "some sources are here", "two commands"),
            (&["a:x", "b:y", "."], "several hosts", "its own"),
            (&["a:x", "trunkline://a/x", "."], "several hosts", "its own"),
        ];
        for (texts, what, hint) in table {
            let error = route(texts).unwrap_err();
            assert!(error.what.contains(what), "{texts:?}: {}", error.what);
            assert!(error.hint.contains(hint), "{texts:?}: {}", error.hint);
        }
    }
}

//! Copies.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use trunkline::Cancel;
use trunkline::ask;
use trunkline::copy::{
    self, Access, Attributes, ChecksumList, CongestionChoice, CopyControl, CopyEvent, CopyObserver,
    CopyOptions, CopyRequest, FarProgram, Filter, Follow, Kept, Objective, OwnersBy, Patience,
    ProblemKind, Route, Selection, SelectionRule, Token, check_listed, check_pattern,
};
use trunkline::report;
use trunkline::units::{PairChoice, Via};

use crate::asked::{Keep, Leaving, at_most_one, exclusive, optional, transport, value};
use crate::call::{Call, Tell};
use crate::error::{Failure, unreadable};
use crate::result::Done;
use crate::tables::FileRow;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    places: Vec<OsString>,
    recursive: bool,
    no_preserve: Vec<String>,
    copy_links: bool,
    hard_links: bool,
    xattrs: bool,
    acls: bool,
    owner: Option<String>,
    atimes: bool,
    dry_run: bool,
    overwrite: bool,
    ignore_existing: bool,
    checksum: bool,
    rules: Vec<(bool, String)>,
    files_from: Option<FilesFrom>,
    delete: bool,
    verify: bool,
    digest: Vec<(String, PathBuf)>,
    delta: bool,
    compress: bool,
    plain: bool,
    max_rate: Option<String>,
    gentle: Option<String>,
    follow: Option<String>,
    objective: Option<String>,
    streams: Option<String>,
    window: String,
    congestion: Option<String>,
    transport: String,
    leaving: Leaving,
    via: Vec<String>,
    mptcp: bool,
    connect: String,
    port_range: Option<String>,
    ssh: String,
    far_program: Option<String>,
    own_program: Option<PathBuf>,
    sftp: bool,
    token: Option<String>,
    token_file: Option<PathBuf>,
    source_token_file: Option<PathBuf>,
    patience: Option<String>,
    history: Keep,
    command: String,
}

/// Names that alone are copied.
#[derive(FromPyObject)]
enum FilesFrom {
    /// A file that lists them, a name a line.
    File(PathBuf),
    /// The names.
    Names(Vec<OsString>),
}

impl Asked {
    fn filter(&self) -> Result<Filter, Failure> {
        let given = [
            ("overwrite", self.overwrite),
            ("ignore_existing", self.ignore_existing),
            ("checksum", self.checksum),
        ];
        at_most_one(&given)?;
        Ok(
            match (self.overwrite, self.ignore_existing, self.checksum) {
                (true, ..) => Filter::All,
                (_, true, _) => Filter::Missing,
                (.., true) => Filter::Content,
                _ => Filter::Changed,
            },
        )
    }

    fn objective(&self) -> Result<Objective, Failure> {
        let gentle = optional("gentle", self.gentle.as_deref(), ask::copy::added_rtt)?;
        let given = [
            ("objective", self.objective.is_some()),
            ("gentle", gentle.is_some()),
        ];
        at_most_one(&given)?;
        if self.objective.is_some() && self.streams.is_some() {
            return Err(exclusive("objective", "streams"));
        }
        match (gentle, self.objective.as_deref()) {
            (Some(added_rtt_max), _) => Ok(Objective::Gentle {
                added_rtt_max,
                loss_max: Objective::LOSS_MAX,
            }),
            (None, None | Some("knee")) => Ok(copy::KNEE),
            (None, Some("max")) => Ok(Objective::Max),
            (None, Some("power")) => Ok(Objective::Power),
            (None, Some(other)) => {
                let known = "possible values: max, knee, power";
                Err(Failure::value("objective", other, known))
            }
        }
    }

    fn keeps(&self, what: &str) -> bool {
        !self.no_preserve.iter().any(|other| other == what)
    }

    fn owners(&self) -> Result<Option<OwnersBy>, Failure> {
        Ok(match self.owner.as_deref() {
            None => None,
            Some("names") => Some(OwnersBy::Names),
            Some("numbers") => Some(OwnersBy::Numbers),
            Some(other) => {
                let known = "possible values: names, numbers";
                return Err(Failure::value("owner", other, known));
            }
        })
    }

    fn attributes(&self) -> Result<Attributes, Failure> {
        const KNOWN: [&str; 2] = ["times", "permissions"];
        let mut given = self.no_preserve.iter();
        if let Some(other) = given.find(|other| !KNOWN.contains(&other.as_str())) {
            let known = format!("possible values: {}", KNOWN.join(", "));
            return Err(Failure::value("no_preserve", other, &known));
        }
        Ok(Attributes {
            permissions: self.keeps("permissions"),
            times: self.keeps("times"),
            links: !self.copy_links,
            kept: Kept {
                hard_links: self.hard_links,
                user_attributes: self.xattrs,
                acls: self.acls,
                owners: self.owners()?,
                access_times: self.atimes,
            },
        })
    }

    fn selection(&self, route: &Route) -> Result<Selection, Failure> {
        let rule = |(leaves_out, pattern): &(bool, String)| {
            let name = if *leaves_out { "exclude" } else { "include" };
            value(name, pattern, check_pattern)?;
            Ok(SelectionRule {
                leaves_out: *leaves_out,
                pattern: pattern.clone(),
            })
        };
        let rules: Result<Vec<SelectionRule>, Failure> = self.rules.iter().map(rule).collect();
        if self.files_from.is_some() && self.delete {
            return Err(exclusive("delete", "files_from"));
        }
        let listed = self.files_from.as_ref().map(|from| {
            let (names, file) = match from {
                FilesFrom::File(file) => {
                    let text = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
                    (copy::listed(&text, false), file.clone())
                }
                FilesFrom::Names(names) => {
                    use std::os::unix::ffi::OsStrExt;
                    let names = names.iter().map(|name| name.as_bytes().to_vec());
                    (names.collect(), PathBuf::from("`files_from`"))
                }
            };
            check_listed(&names, &file, route.direction())?;
            Ok::<_, Failure>(names)
        });
        Ok(Selection {
            rules: rules?,
            listed: listed.transpose()?,
        })
    }

    fn options(&self, route: &Route) -> Result<CopyOptions, Failure> {
        let max_rate = self.max_rate.as_deref();
        Ok(CopyOptions {
            recursive: self.recursive,
            attributes: self.attributes()?,
            filter: self.filter()?,
            selection: self.selection(route)?,
            delete: self.delete,
            plain: self.plain,
            verify: self.verify,
            dry_run: self.dry_run,
            compress: self.compress,
            objective: self.objective()?,
            streams: optional("streams", self.streams.as_deref(), ask::copy::streams)?,
            window: value("window", &self.window, ask::copy::buffers)?,
            congestion: self.congestion.clone().map(CongestionChoice::required),
            rate_max: optional("max_rate", max_rate, ask::copy::rate_limit)?,
            gentle: optional("gentle", self.gentle.as_deref(), ask::copy::added_rtt)?,
            follow: self.follow()?,
            delta: self.delta,
            ..CopyOptions::default()
        })
    }

    fn follow(&self) -> Result<Option<Follow>, Failure> {
        let until_idle = match self.follow.as_deref() {
            None => return Ok(None),
            Some("until-stopped") => None,
            Some(text) => Some(value("follow", text, ask::copy::idle)?),
        };
        Ok(Some(Follow {
            until_idle,
            ..Follow::UNTIL_STOPPED
        }))
    }

    fn token(&self, route: &Route) -> Result<Option<Token>, Failure> {
        let is_server =
            |place: Option<&copy::Place>| matches!(place, Some(copy::Place::Server { .. }));
        let is_for_server = is_server(route.far()) || is_server(route.commanded());
        let given = [
            ("token", self.token.is_some()),
            ("token_file", self.token_file.is_some()),
        ];
        at_most_one(&given)?;
        if (self.token.is_some() || self.token_file.is_some()) && !is_for_server {
            return Err(Failure::request(
                "a token is for a trunkline:// server, and this copy goes over ssh",
                "leave it out: ssh says who you are",
            ));
        }
        let text = match (&self.token, &self.token_file) {
            (Some(token), _) => Some(token.clone()),
            (_, Some(file)) => Some(crate::result::read(file)?),
            _ => std::env::var("TRUNKLINE_TOKEN")
                .ok()
                .filter(|_| is_for_server),
        };
        Ok(text.map(|text| text.parse::<Token>()).transpose()?)
    }

    fn source_token(&self) -> Result<Option<Token>, Failure> {
        let text = self.source_token_file.as_ref();
        let text = text.map(|file| crate::result::read(file)).transpose()?;
        Ok(text.map(|text| text.parse::<Token>()).transpose()?)
    }

    fn access(&self, route: &Route) -> Result<Access, Failure> {
        Ok(Access {
            ssh: value("ssh", &self.ssh, ask::copy::words)?.0,
            program: match (&self.far_program, &self.own_program) {
                (Some(_), _) if self.sftp => {
                    return Err(Failure::request(
                        "`far_program` names a program, and with `sftp` none is started",
                        "leave out one of the two",
                    ));
                }
                _ if self.sftp => FarProgram::Sftp,
                (Some(program), _) => FarProgram::There(program.clone()),
                (None, Some(own)) => FarProgram::ThereOrSent(own.clone()),
                (None, None) => FarProgram::default(),
            },
            token: self.token(route)?,
            source_token: self.source_token()?,
            transport: transport(&self.transport)?,
            via: Via {
                multipath: self.mptcp,
                ..self.leaving.via()?
            },
            pairs: self.pairs()?,
            from_far: match self.connect.as_str() {
                "to-far" => false,
                "from-far" => true,
                other => {
                    let known = "possible values: to-far, from-far";
                    return Err(Failure::value("connect", other, known));
                }
            },
            ports: optional("port_range", self.port_range.as_deref(), ask::copy::ports)?,
            patience: optional("patience", self.patience.as_deref(), ask::copy::patience)?
                .map_or_else(Patience::default, Patience::from_the_first),
        })
    }

    fn checksum_lists(&self) -> Result<Vec<ChecksumList>, Failure> {
        let list = |(name, file): &(String, PathBuf)| {
            Ok(ChecksumList {
                algorithm: value("digest", name, ask::verify::algorithm)?,
                file: file.clone(),
            })
        };
        self.digest.iter().map(list).collect()
    }

    fn pairs(&self) -> Result<Vec<PairChoice>, Failure> {
        let read = |text: &str| {
            let pair = text.parse::<PairChoice>();
            pair.map_err(|error| error.to_string())
        };
        let pairs = self.via.iter().map(|text| value("via", text, read));
        pairs.collect()
    }

    fn request(&self) -> Result<CopyRequest, Failure> {
        let places: Vec<PathBuf> = self.places.iter().map(PathBuf::from).collect();
        let route = Route::parse(&places)?;
        let options = self.options(&route)?;
        let request = CopyRequest::new(&places, options, self.access(&route)?)?;
        Ok(request.listing(self.checksum_lists()?)?)
    }
}

/// Passes events on, and remembers what became of each file.
struct Observer<'a> {
    tell: &'a Tell,
    files: Vec<FileRow>,
}

impl CopyObserver for Observer<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.files.extend(FileRow::of(event));
        self.tell.tell(event.into());
    }
}

/// Starts a copy.
#[pyfunction]
pub fn start_copy(asked: Asked) -> PyResult<Call> {
    let request = asked.request()?;
    let history = asked.history.history();
    Call::start("copy", asked.command, move |cancel, tell| {
        run(request, &history, cancel, tell)
    })
}

fn run(
    request: CopyRequest,
    history: &trunkline::history::History,
    cancel: &Cancel,
    tell: &Tell,
) -> Result<Done, Failure> {
    let remembered = history.of_copies(&request.spec.far.host, request.spec.direction);
    let request = request.remembering(remembered);
    let control = CopyControl::from(cancel);
    control.set_rate_limit(request.spec.options.rate_max.as_ref());
    let what = format!("{} to {}", request.sources.join(" "), request.destination);
    // Without it, `trunkline limit` does not find the copy; that is no reason not to copy.
    let _offered = copy::offer(&what, control.clone()).ok();
    let files = Vec::new();
    let mut observer = Observer { tell, files };
    let copied = match trunkline::copy(&request, &control, &mut observer) {
        Ok(copied) => copied,
        Err(error) if observer.files.is_empty() => return Err(failure(&error)),
        // What became of files until then is not lost with the document.
        Err(error) => {
            let done = Done::default().with_files(observer.files);
            return Ok(done.cut(Some(failure(&error))));
        }
    };
    let cut = copied.cut.map(|error| {
        failure(&error).with_hint("the same copy goes on; what has arrived is not sent again")
    });
    let unlisted = copied.unlisted.as_ref().map(failure);
    let left = report::text::copy::failures_title(&copied.document.body).map(|what| {
        let hint = "once the reasons are gone, the same copy copies what is missing; the table \
                    `files` has the reasons";
        Failure::request(what, hint).of_kind("IncompleteCopy")
    });
    let done = Done::of(copied.document).with_files(observer.files);
    Ok(done.kept_in(history).cut(cut.or(left).or(unlisted)))
}

/// The failure, as one of the system's own errors where Python has one for it.
fn failure(error: &trunkline::Error) -> Failure {
    let failure = Failure::from(error);
    match copy::problem_of(error) {
        Some(ProblemKind::DiskFull) => failure.of_kind("DiskFullError"),
        Some(ProblemKind::Permission) => failure.of_kind("RightsError"),
        _ => failure,
    }
}

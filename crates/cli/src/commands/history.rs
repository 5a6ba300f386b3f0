//! `trunkline history`: what was kept.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use trunkline::AnyDocument;
use trunkline::archive::set_aside;
use trunkline::draw::Page;
use trunkline::draw::render::html;
use trunkline::draw::render::terminal::{self, Width};
use trunkline::history::{self, Archive, Comparison, Entry, Filter, Listed, Listing};
use trunkline::record::{self, Beside, Measure, Schema, SweepComparison};
use trunkline::report;
use trunkline::report::text::count;
use trunkline_watch::{DatabaseName, archive_documents, named_database};

use crate::args::History;
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::progress::RunProgress;
use crate::stop;

pub(crate) fn run(arguments: &History) -> Result<ExitCode, Failure> {
    let place = place(arguments)?;
    if arguments.set_aside {
        let aside = set_aside(&place)?;
        tell!("{} is now {}", place.display(), aside.display());
    } else if !arguments.import.is_empty() {
        import(&arguments.import, &place)?;
    } else if is_fresh(arguments, &place) {
        list(arguments, &place, &[])?;
    } else {
        show(arguments, &place)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn place(arguments: &History) -> Result<PathBuf, Failure> {
    let place = arguments.history.clone().or_else(history::default_place);
    place.ok_or_else(|| {
        Failure::wrong_request(
            "there is no place for results: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is \
                set",
            "name the archive with `--history FILE`",
        )
    })
}

/// Whether nothing was ever kept in the default place.
fn is_fresh(arguments: &History, place: &Path) -> bool {
    let lists =
        arguments.run.is_none() && arguments.sweep.is_none() && arguments.compare.is_empty();
    lists && arguments.history.is_none() && !place.exists()
}

fn show(arguments: &History, place: &Path) -> Result<(), Failure> {
    let archive = Archive::open_existing(place)?;
    match (arguments.run, arguments.compare.as_slice()) {
        (Some(id), _) => again(arguments, &archive, &archive.load(id)?),
        (_, [from, to]) => compare(arguments, &archive, *from, *to),
        _ if arguments.sweep.is_some() => runs_of_sweep(arguments, place, &archive),
        _ => {
            let filter = Filter {
                target: arguments.target.clone(),
                since: arguments.since.clone(),
                last: arguments.last,
            };
            list(arguments, place, &archive.listed(&filter)?)
        }
    }
}

/// One document as `trunkline report` shows it.
fn again(arguments: &History, archive: &Archive, document: &AnyDocument) -> Result<(), Failure> {
    if let Some(file) = &arguments.report {
        let visit = visit(archive, document);
        output::write_page_with(document, visit.as_ref(), file)?;
    }
    if let Some(file) = &arguments.path_file {
        output::write_path(document, file)?;
    }
    if let Some(folder) = &arguments.plots {
        let visit = visit(archive, document);
        output::write_plots_with(document, visit.as_ref(), folder)?;
    }
    match (arguments.json, arguments.csv, document) {
        (true, _, _) if arguments.brief => output::print(&document.brief()?.to_json()),
        (true, _, _) => output::print(&document.to_json()),
        (_, true, AnyDocument::Sweep(sweep)) => output::print(&report::rows::visits(&sweep.body)),
        (_, true, _) => Err(Failure::wrong_request(
            "only a sweep and the list have rows for comma-separated values",
            "ask for the document with `--json`",
        )),
        _ => output::show_again(document),
    }
}

/// The readings of one visit of a sweep, to be seen over time. Where they are gone the rest is
/// worth seeing.
fn visit(archive: &Archive, document: &AnyDocument) -> Option<Measure> {
    let id = report::representative(document)?;
    match archive.load(id) {
        Ok(AnyDocument::Measure(visit)) => Some(visit.body),
        Ok(_) => None,
        Err(error) => {
            tell!("warning: run {id}, a visit of this sweep, is left out: {error}");
            None
        }
    }
}

fn compare(arguments: &History, archive: &Archive, from: i64, to: i64) -> Result<(), Failure> {
    match [from, to].map(|id| archive.sweep(id).is_ok()) {
        [true, true] => return compare_sweeps(arguments, archive, from, to),
        [false, false] => {}
        [first, _] => {
            let (sweep, run) = if first { (from, to) } else { (to, from) };
            return Err(Failure::wrong_request(
                &format!("{sweep} is a sweep and {run} is not"),
                "compare two sweeps, or two runs; `trunkline history --sweep SWEEP` lists the runs \
                    of a sweep",
            ));
        }
    }
    let (from, to) = (archive.entry(from)?, archive.entry(to)?);
    refuse_other_kinds(&from, &to)?;
    let documents = [archive.load(from.id)?, archive.load(to.id)?];
    let beside = beside([(from.id, &documents[0]), (to.id, &documents[1])])?;
    let mut comparison = Comparison::new(from, to);
    comparison.beside = beside;
    let page = report::page::comparing(&comparison);
    show_comparison(arguments, &page, || comparison.to_json())
}

/// What both measured, simulated on the path that one of them inferred.
fn beside(documents: [(i64, &AnyDocument); 2]) -> Result<Vec<Beside>, Failure> {
    let cancel = stop::listen()?;
    let mut progress = RunProgress::new();
    let mut on_progress = |event: trunkline::Progress<'_>| progress.on(event);
    Ok(trunkline::compare_beside(
        documents,
        &cancel,
        &mut on_progress,
    )?)
}

/// A comparison as a page, and as JSON or text.
fn show_comparison(
    arguments: &History,
    page: &Page,
    json: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if let Some(file) = &arguments.report {
        record::save(file, &html::html(page, &[])?)?;
        tell!("wrote {}", file.display());
    }
    match arguments.json {
        true => output::print(&json()),
        false => output::print(&terminal::text(page, output::paint())),
    }
}

/// Goodputs of different kinds of documents are of different things, but for those that were
/// measured alike, and for a scenario by packets and by the fluid model.
fn refuse_other_kinds(from: &Entry, to: &Entry) -> Result<(), Failure> {
    let is_measured = |schema| matches!(schema, Schema::Measure | Schema::Tune | Schema::Demo);
    let (one, other) = (from.essence.schema, to.essence.schema);
    let is_scenario = |schema| matches!(schema, Schema::Simulate | Schema::Fluid);
    let alike = |is_kind: fn(Schema) -> bool| is_kind(one) && is_kind(other);
    if one == other || alike(is_measured) || alike(is_scenario) {
        return Ok(());
    }
    Err(Failure::wrong_request(
        &format!(
            "run {} is a `{}` and run {} a `{}`: their rates are of different things",
            from.id,
            one.kind(),
            to.id,
            other.kind()
        ),
        "compare two runs of one kind; `trunkline history` lists the kinds in its column `kind`",
    ))
}

/// Every setting of two sweeps side by side.
fn compare_sweeps(
    arguments: &History,
    archive: &Archive,
    from: i64,
    to: i64,
) -> Result<(), Failure> {
    let documents = [archive.load(from)?, archive.load(to)?];
    let beside = beside([(from, &documents[0]), (to, &documents[1])])?;
    let [AnyDocument::Sweep(from), AnyDocument::Sweep(to)] = &documents else {
        unreachable!("both numbers are those of sweeps");
    };
    let mut comparison = SweepComparison::new(&from.body, &to.body);
    comparison.beside = beside;
    let page = report::page::comparing_sweeps(&comparison);
    show_comparison(arguments, &page, || comparison.to_json())
}

fn list(arguments: &History, place: &Path, entries: &[Listed]) -> Result<(), Failure> {
    if arguments.json {
        return output::print(&Listing::new(entries).to_json());
    }
    if arguments.csv {
        return output::print(&report::rows::history(entries));
    }
    if entries.is_empty() {
        tell!("nothing to list in {}", place.display());
        return Ok(());
    }
    let width = match io::stdout().is_terminal() {
        true => Width::Page,
        false => Width::Any,
    };
    let list = terminal::table(&report::page::list(entries), output::paint(), width);
    output::print(&list)
}

/// The visits of a sweep as the runs that they are.
fn runs_of_sweep(arguments: &History, place: &Path, archive: &Archive) -> Result<(), Failure> {
    let id = arguments.sweep.unwrap_or_default();
    let runs = archive.runs_of_sweep(id)?.into_iter().map(Box::new);
    let runs: Vec<Listed> = runs.map(Listed::Run).collect();
    list(arguments, place, &runs)
}

/// What a word of `--import` names.
enum Imported {
    Document(Box<AnyDocument>),
    Watch(DatabaseName),
}

impl Imported {
    fn read(word: &Path) -> Result<Self, trunkline::Error> {
        match named_database(word) {
            Some(database) => Ok(Imported::Watch(database)),
            None => Ok(Imported::Document(Box::new(history::load(word)?))),
        }
    }
}

/// All files are read before the first is kept; databases are read page by page.
fn import(words: &[PathBuf], place: &Path) -> Result<(), Failure> {
    let imported: Result<Vec<_>, _> = words.iter().map(|word| Imported::read(word)).collect();
    let imported = imported?;
    let mut archive = Archive::open(place)?;
    for (word, imported) in words.iter().zip(&imported) {
        match imported {
            Imported::Document(document) => {
                let id = archive.keep(document)?;
                output::print(&format!("{}: run {id}\n", word.display()))?;
            }
            Imported::Watch(database) => import_watch(database, &mut archive)?,
        }
    }
    Ok(())
}

fn import_watch(database: &DatabaseName, archive: &mut Archive) -> Result<(), Failure> {
    let archived = archive_documents(database, archive, &mut output::count_so_far("documents"))?;
    let runs = match (archived.runs.iter().min(), archived.runs.iter().max()) {
        (Some(first), Some(last)) if first < last => format!(", runs {first} to {last}"),
        (Some(only), _) => format!(", run {only}"),
        _ => String::new(),
    };
    let documents = count(archived.runs.len() as u64, "document");
    output::print(&format!("{database}: {documents}{runs}\n"))?;
    if archived.left_out > 0 {
        let documents = count(archived.left_out, "document");
        tell!(
            "warning: {documents} of {database} left out: damaged, or of a version or kind that \
             is not kept here"
        );
    }
    Ok(())
}

//! Where results go: text or JSON to the terminal, documents and pages to files.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use trunkline::copy::CopyEvent;
use trunkline::draw::Paint;
use trunkline::record::{self, Body, Measure};
use trunkline::report;
use trunkline::{AnyDocument, Document};

use crate::archive;
use crate::args::{Keep, Output, RowsOutput};
use crate::failure::Failure;

/// Writes a line to standard error. A closed pipe there is no failure either.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use tell;

/// Tells a terminal every two seconds how many of `what` there are so far.
pub(crate) fn count_so_far(what: &str) -> impl FnMut(u64) {
    const EVERY: Duration = Duration::from_secs(2);
    let (is_watched, mut told) = (io::stderr().is_terminal(), Instant::now());
    move |count| {
        if is_watched && told.elapsed() > EVERY {
            told = Instant::now();
            tell!("{count} {what} so far");
        }
    }
}

/// Shows, keeps and saves one document as the user asked.
pub(crate) fn deliver<B>(document: Document<B>, output: &Output, keep: &Keep) -> Result<(), Failure>
where
    B: Body,
    AnyDocument: From<Document<B>>,
{
    deliver_any(&document.into(), output, keep)
}

/// The same for a document of a kind that only the run has decided.
pub(crate) fn deliver_any(
    document: &AnyDocument,
    output: &Output,
    keep: &Keep,
) -> Result<(), Failure> {
    match output.json {
        true => finish(document, &json(document, output)?, output, keep),
        false => finish(document, &report::text(document, paint()), output, keep),
    }
}

/// The same of a document that is rows as well.
pub(crate) fn deliver_rows(
    document: &AnyDocument,
    output: &RowsOutput,
    keep: &Keep,
) -> Result<(), Failure> {
    match report::rows::rows(document).filter(|_| output.csv) {
        Some(rows) => finish(document, &rows, &output.output, keep),
        None => deliver_any(document, &output.output, keep),
    }
}

fn finish(document: &AnyDocument, text: &str, output: &Output, keep: &Keep) -> Result<(), Failure> {
    // Printed first: a file that cannot be written must not cost the result.
    let printed = print(text);
    // Kept also when printing failed.
    archive::keep(document, keep);
    printed?;
    save(document, output)
}

/// The document as it is printed and saved.
fn json(document: &AnyDocument, output: &Output) -> Result<String, Failure> {
    Ok(match output.brief {
        true => document.brief()?.to_json(),
        false => document.to_json(),
    })
}

/// Keeps and saves a document that has been printed, without a word about the archive where all
/// went well: copies are many, and their numbers are seldom needed.
pub(crate) fn store(document: &AnyDocument, output: &Output, keep: &Keep) -> Result<(), Failure> {
    archive::keep_silently(document, keep);
    save(document, output)
}

fn save(document: &AnyDocument, output: &Output) -> Result<(), Failure> {
    if let Some(file) = &output.save {
        record::save(file, &json(document, output)?)?;
        tell!("saved {}", file.display());
    }
    if let Some(file) = &output.report {
        write_page(document, file)?;
    }
    Ok(())
}

/// Prints a document that was made before, and where it comes from.
pub(crate) fn show_again(document: &AnyDocument) -> Result<(), Failure> {
    let origin = report::origin(document.origin());
    let text = report::text(document, paint());
    print(&format!("{origin}\n{text}"))
}

/// Refuses places that cannot be written to, before hours are spent on what is to be written.
pub(crate) fn check_places(output: &Output, plots: Option<&Path>) -> Result<(), Failure> {
    for file in [&output.save, &output.report].into_iter().flatten() {
        check_place(file)?;
    }
    plots.map_or(Ok(()), check_folder)
}

/// The same of a folder, which is made if it does not exist.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Failure> {
    make(folder)?;
    Ok(record::check_target(&folder.join("index.html"))?)
}

/// The same of a single file.
pub(crate) fn check_place(file: &Path) -> Result<(), Failure> {
    Ok(record::check_target(file)?)
}

fn make(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::folder(folder, &error))
}

/// Writes the document as a page.
pub(crate) fn write_page(document: &AnyDocument, file: &Path) -> Result<(), Failure> {
    write_page_with(document, None, file)
}

/// The same; of a sweep with the readings of one visit.
pub(crate) fn write_page_with(
    document: &AnyDocument,
    visit: Option<&Measure>,
    file: &Path,
) -> Result<(), Failure> {
    let page = report::html(document, visit)?;
    record::save(file, &page)?;
    tell!("wrote {}", file.display());
    Ok(())
}

/// Writes the inferred path of a document as a path file.
pub(crate) fn write_path(document: &AnyDocument, file: &Path) -> Result<(), Failure> {
    let path = document.path_file().ok_or_else(|| {
        Failure::wrong_request(
            &format!("this {} tells no path", document.schema().kind()),
            "a search does: `trunkline tune HOST --path-file FILE`",
        )
    })?;
    record::save(file, path)?;
    tell!("wrote {}", file.display());
    Ok(())
}

/// Writes the plots of the document into `folder`, which is made if it does not exist.
pub(crate) fn write_plots(document: &AnyDocument, folder: &Path) -> Result<(), Failure> {
    save_plots(report::charts(document, None)?, folder)
}

/// The same, of a sweep with the readings of one visit. To ask for plots of a document that has
/// none is a wrong request.
pub(crate) fn write_plots_with(
    document: &AnyDocument,
    visit: Option<&Measure>,
    folder: &Path,
) -> Result<(), Failure> {
    let plots = report::charts(document, visit)?;
    if plots.is_empty() {
        return Err(Failure::wrong_request(
            &format!("there are no plots of this {}", document.schema().kind()),
            "a document of `--brief` has no readings to draw; ask for a page with `--report \
                FILE.html`",
        ));
    }
    save_plots(plots, folder)
}

fn save_plots(plots: Vec<(String, String)>, folder: &Path) -> Result<(), Failure> {
    make(folder)?;
    for (name, svg) in plots {
        let file = folder.join(name);
        record::save(&file, &svg)?;
        tell!("wrote {}", file.display());
    }
    Ok(())
}

/// Whether the command line asks for JSON; what stands behind `--` belongs to another program.
pub(crate) fn is_json_asked(arguments: &[OsString]) -> bool {
    let mut own = arguments.iter().take_while(|word| *word != "--");
    own.any(|word| word == "--json")
}

/// Whether anything was printed: programs that read JSON expect one document.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Tells a program that reads JSON why there is no document, in the shape that a copy has for it.
pub(crate) fn print_failure(what: &str, hint: Option<&str>) {
    if !HAS_PRINTED.load(Ordering::Relaxed) {
        let line = CopyEvent::Error {
            what: what.to_owned(),
            hint: hint.map(str::to_owned),
        };
        // It is told on standard error as well.
        let _ = print(&line.to_line());
    }
}

/// Prints to standard output. A closed pipe (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Colours for people only, and not for those who set `NO_COLOR`.
pub(crate) fn paint() -> Paint {
    let wanted = io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none();
    if wanted { Paint::Ansi } else { Paint::Plain }
}

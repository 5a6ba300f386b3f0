//! Sentences about a copy while it runs and of what failed.

use record::Limit;
use record::copy::{Copy, CopyPhase, CopyProgress, FileProblem, TimeShare};

use units::{Bytes, Span, TimeOfDay};

use super::{count, limit, plain};
use draw::format;

/// What limits a copy, behind "limited by".
pub fn limited_by(by: Limit) -> &'static str {
    match by {
        Limit::Link => "the full link",
        Limit::Host => "the processors of this host",
        Limit::Gentle => "its being gentle",
        Limit::RoundTrips => "round trips to the far end",
        other => limit(other),
    }
}

/// What a copy's time went to.
pub fn phase(phase: CopyPhase) -> &'static str {
    match phase {
        CopyPhase::Starting => "starting",
        CopyPhase::Queued => "waiting for its turn",
        CopyPhase::Away => "the far end was gone",
        CopyPhase::Unclear => "no single part",
        CopyPhase::Ending => "ending",
        CopyPhase::Following => "waiting for files",
        CopyPhase::Bound(by) => limited_by(by),
    }
}

/// The parts of a copy's time in whole percents that add up to 100; those without one are left out.
pub fn time_parts(time: &[TimeShare]) -> Vec<(u64, CopyPhase)> {
    let shares: Vec<f64> = time.iter().map(|part| part.share_ratio).collect();
    let whole = format::whole_percents(&shares).into_iter();
    let named = whole.zip(time.iter().map(|part| part.to));
    named.filter(|(percent, _)| *percent > 0).collect()
}

/// What both ends of a copy wait for that stands still.
///
/// * `here`, `there`: what each does, to stand behind "this side" and "the far end".
pub fn stalled(still: Span, here: &str, there: &str) -> String {
    let (here, there) = (plain(here), plain(there));
    format!(
        "no byte for {}: this side {here}; the far end {there}",
        still.human()
    )
}

/// What was sent to a host that had no trunkline, or another version.
pub fn program_sent(host: &str, file: &str, bytes: Bytes) -> String {
    let folder = file.rsplit_once('/').map_or(file, |(folder, _)| folder);
    let (host, folder) = (plain(host), plain(folder));
    format!(
        "{host} has no trunkline of this version: sending this one, {}, to {folder}; `trunkline \
        far clean {host}` removes it",
        bytes.human()
    )
}

/// Why a copy goes over SFTP that began otherwise.
pub fn over_sftp(host: &str, because: &str) -> String {
    let (host, because) = (plain(host), plain(because));
    format!("{because}. Copying over the SFTP server of {host} instead, which is slower")
}

/// Where a copy stands that waits for files of its sources.
///
/// ```
/// let text = report::text::copy::following(12, units::Bytes::new(3_100_000_000), 2);
/// assert_eq!(text, "following: 12 files, 3.10 GB copied; 2 new or being written");
/// ```
pub fn following(files: u64, bytes: Bytes, waiting: u64) -> String {
    let waiting = match waiting {
        0 => "none".to_owned(),
        waiting => waiting.to_string(),
    };
    let (files, bytes) = (count(files, "file"), format::size(bytes.get()));
    format!("following: {files}, {bytes} copied; {waiting} new or being written")
}

/// How many files and folders were not copied; `None` where all were.
pub fn failures_title(copy: &Copy) -> Option<String> {
    let is_folder = |failure: &&FileProblem| failure.name.ends_with('/');
    let all = copy.failed.len() as u64;
    let folders = copy.failed.iter().filter(is_folder).count() as u64;
    let what = match (all - folders, folders) {
        (0, 0) => return None,
        (files, 0) => count(files, "file"),
        (0, folders) => count(folders, "folder"),
        (files, folders) => format!("{} and {}", count(files, "file"), count(folders, "folder")),
    };
    let were = if all == 1 { "was" } else { "were" };
    Some(format!("{what} {were} not copied"))
}

/// One file that was not copied, why, and the next step.
pub fn failure(failure: &FileProblem) -> String {
    let hint = failure.hint.as_deref();
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    let below = match failure.below {
        0 => String::new(),
        1 => "; what is in it is not copied either".to_owned(),
        count => format!("; nor are the {count} things in it"),
    };
    let name = match failure.name.as_str() {
        "" => String::new(),
        name => format!("{name}: "),
    };
    plain(&format!("{name}{}{below}{hint}", failure.what))
}

/// How far a copy is, in two parts: what is done, and how it goes.
pub fn progress(line: &CopyProgress) -> (String, String) {
    let total = format::size(line.total.get());
    let so_far = if line.total_is_known {
        ""
    } else {
        " found so far"
    };
    let left = line.left.filter(|_| line.total_is_known);
    let left = left.map(|left| format!(", {} left", format::lasting(left.as_secs_f64())));
    let done = format!(
        "{} of {total}{so_far}, {} of {}{}",
        format::size(line.done.get()),
        line.files_done,
        count(line.files_total, "file"),
        left.unwrap_or_default()
    );
    let how = [
        Some(format::rate(line.rate.bits_per_second())),
        Some(format!("{} now", count(line.streams.into(), "stream"))),
        line.rtt
            .map(|rtt| format!("RTT {} ms", format::milliseconds(rtt.as_secs_f64()))),
        line.limited_by
            .map(|by| format!("limited by {}", limited_by(by))),
        line.rate_max_until.map(|until| bound_until(line, until)),
    ];
    let how: Vec<String> = how.into_iter().flatten().collect();
    (done, how.join(", "))
}

/// What bounds the rate until then: `at most 50.0 Mbit/s until 18:00`.
fn bound_until(line: &CopyProgress, until: TimeOfDay) -> String {
    match line.rate_max {
        Some(rate) => {
            let rate = format::rate(rate.bits_per_second());
            format!("at most {rate} until {until}")
        }
        None => format!("no bound until {until}"),
    }
}

/// Thousandths of the bytes that are done; zero while it is not known how many there are.
///
/// ```
/// use record::copy::CopyProgress;
/// use units::{Bytes, Rate, Time};
/// let mut line = CopyProgress {
///     at: Time::ZERO, done: Bytes::new(300), total: Bytes::new(1200), total_is_known: true,
///     files_done: 0, files_total: 1, rate: Rate::ZERO, streams: 1, rtt: None,
///     retransmitted_share: None, limited_by: None, rate_max: None, rate_max_until: None,
///     left: None,
/// };
/// assert_eq!(report::text::copy::thousandths(&line), 250);
/// line.total_is_known = false;
/// assert_eq!(report::text::copy::thousandths(&line), 0);
/// ```
pub fn thousandths(line: &CopyProgress) -> u64 {
    match (line.total_is_known, line.total.get()) {
        (false, _) => 0,
        (true, 0) => 1000,
        (true, total) => (line.done.get().min(total) as f64 / total as f64 * 1000.0) as u64,
    }
}

//! Real programs over an emulated path, for the figure of a study that is of them.

use std::thread;
use std::time::{Duration, Instant};

use observe::{SamplePlan, Setting, StreamCount, Window};
use serde_json::Value;
use sockets::child::Child;
use studies::programs::{ProgramRun, ProgramRuns, ProgramSetting, STUDY};
use studies::{Programme, programs};
use units::{Rate, Span};

use crate::emulate::{EmulatedPath, FarProgram, addresses};
use crate::progress::Watcher;
use crate::{Cancel, Error, Progress, Target, report};

/// What is left out of a run of iperf3, and what counts; GridFTP's take as long in all.
const WARM_UP: Span = Span::from_secs(5);
const COUNTED: Span = Span::from_secs(15);
/// A client that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often a client is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Mbit/s, and the share of a processor at both ends where the program tells it.
type Carried = (Rate, Option<[f64; 2]>);
type Client = fn(&Ends<'_>, &ProgramSetting) -> Result<Carried, String>;

/// Programs, the command of their far end, and their clients.
const PROGRAMS: [(&str, &str, Client); 2] = [
    ("iperf3", "exec iperf3 -s >/dev/null 2>&1", iperf3),
    (
        "globus-url-copy",
        "exec globus-gridftp-server -aa -anonymous-user \"$(id -un)\" -allow-root -c /dev/null \
         -p 2811 -data-interface \"$FAR\" >/dev/null 2>&1",
        gridftp,
    ),
];

/// The path, the address of its far end, and what ends runs early.
struct Ends<'a> {
    path: &'a EmulatedPath,
    far: String,
    cancel: &'a Cancel,
}

/// Runs iperf3 and globus-url-copy over the emulated path of the figure that is of them, which
/// takes four minutes and the rights of [`EmulatedPath::up`]. What is not installed, or does not
/// run, is told in the notes.
///
/// # Errors
/// When no study of `programme` has such a figure, the path cannot be emulated here, or it was
/// cancelled.
pub fn run_programs(
    programme: &Programme,
    cancel: &Cancel,
    on_run: &mut dyn FnMut(&ProgramRun),
) -> Result<ProgramRuns, Error> {
    if !programme.studies.iter().any(|study| study.name == STUDY) {
        return Err(Error::wrong_request(
            "`--programs` runs those of a figure that none of these studies has",
            format!("name the study `{STUDY}`, too"),
        ));
    }
    let path = EmulatedPath::up(programs::path()?, 1)?;
    let has_own = path.make_default_congestion()?;
    let mut seen = ProgramRuns {
        runs: Vec::new(),
        notes: vec![how(&path, has_own)],
    };
    let ends = Ends {
        path: &path,
        far: addresses(&path.path().hosts)[1].to_string(),
        cancel,
    };
    for (name, server, client) in PROGRAMS {
        let outcome = all_of(&ends, (name, server, client), &mut |run| {
            on_run(&run);
            seen.runs.push(run);
        })?;
        if cancel.is_cancelled() {
            return Err(Error::cancelled("the runs of programs were cancelled"));
        }
        if let Err(why) = outcome {
            let note = format!("{name} did not run, or not to the end: {why}.");
            seen.notes.push(note);
        }
    }
    let busy = path.punctuality();
    seen.notes
        .extend(busy.and_then(|busy| report::text::host_was_busy(&busy)));
    Ok(seen)
}

/// How they are run.
fn how(path: &EmulatedPath, has_own: bool) -> String {
    let path = path.path();
    let congestion = match has_own {
        true => format!("congestion control {}", path.hosts.congestion),
        false => "this host's congestion control where a program does not choose".to_owned(),
    };
    format!(
        "Real programs crossed {} ({path}), emulated on this host, from memory to memory, {} \
         each, {congestion}. The first {} of iperf3 do not count, nor what was told apart as \
         warm-up of globus-url-copy.",
        path.name,
        (WARM_UP + COUNTED).human(),
        WARM_UP.human(),
    )
}

/// Every setting of one program. The inner error says why there is nothing, or no more.
fn all_of(
    ends: &Ends<'_>,
    (name, server, client): (&'static str, &str, Client),
    on_run: &mut dyn FnMut(ProgramRun),
) -> Result<Result<(), String>, Error> {
    let mut trouble = None;
    let command = format!("FAR={}; {server}", ends.far);
    let far = ends.path.start_far(&command, ends.cancel, &mut |far| {
        trouble = Some(match far {
            FarProgram::Ended(_) => "its server ended at once, or is not installed".to_owned(),
            FarProgram::Silent(_) => "its server does not listen".to_owned(),
        });
    })?;
    let mut each = || -> Result<(), String> {
        for setting in programs::settings() {
            let (rate, processors) = client(ends, &setting)?;
            on_run(ProgramRun {
                program: name,
                setting,
                rate,
                processors,
            });
        }
        Ok(())
    };
    let outcome = match trouble {
        Some(why) => Err(why),
        None => each(),
    };
    far.kill();
    far.wait()?;
    Ok(outcome)
}

/// Without intervals, so that the whole result is short.
fn iperf3(ends: &Ends<'_>, setting: &ProgramSetting) -> Result<Carried, String> {
    let (far, streams) = (&ends.far, setting.streams);
    let [warm_up, counted] = [WARM_UP, COUNTED].map(|span| span.as_secs_f64());
    let line = format!("-c {far} -J -i 0 -O {warm_up} -t {counted} -P {streams}");
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    if let Some(window) = setting.window {
        words.extend(["-w".to_owned(), window.get().to_string()]);
    }
    let run = || last_words("iperf3", &words, ends.cancel);
    let said = ends.path.near().run(run);
    read(&said.map_err(|error| error.to_string())??)
}

/// What `iperf3 -J` says.
fn read(said: &str) -> Result<Carried, String> {
    let all: Value = serde_json::from_str(said).map_err(|_| {
        format!(
            "iperf3 said `{}`",
            said.lines().next_back().unwrap_or_default()
        )
    })?;
    if let Some(error) = all.get("error").and_then(Value::as_str) {
        return Err(format!("iperf3 says `{error}`"));
    }
    let number = |key: &str| all.pointer(key).and_then(Value::as_f64);
    let rate = number("/end/sum_received/bits_per_second").ok_or("iperf3 told no rate")?;
    let near = number("/end/cpu_utilization_percent/host_total");
    let far = number("/end/cpu_utilization_percent/remote_total");
    let processors = near.zip(far).map(|(near, far)| [near, far]);
    Ok((Rate::from_f64(rate), processors))
}

/// What a program prints until it ends.
fn last_words(program: &str, arguments: &[String], cancel: &Cancel) -> Result<String, String> {
    let started = Child::start(program, arguments, &[]);
    let mut child = started.map_err(|error| format!("{program} cannot be started ({error})"))?;
    let until = Instant::now() + PATIENCE;
    while child.ended().map_err(|error| error.to_string())?.is_none() {
        if cancel.is_cancelled() || Instant::now() > until {
            return Err(format!("{program} took too long and was ended"));
        }
        thread::sleep(LOOK);
    }
    Ok(child.last_said())
}

/// As a target of searches runs it.
fn gridftp(ends: &Ends<'_>, setting: &ProgramSetting) -> Result<Carried, String> {
    let streams = StreamCount::new(setting.streams.into()).map_err(|error| error.to_string())?;
    let window = setting.window.map_or(Window::Auto, Window::Fixed);
    let plan = SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(WARM_UP + COUNTED)
    };
    let run = || {
        let target = Target::open(&format!("gridftp://{}/dev/null", ends.far), 1);
        let mut target = target.map_err(|error| error.what())?;
        let setting = Setting::new(streams, window);
        let mut quiet = |_: Progress<'_>| {};
        let mut watch = Watcher::new(ends.cancel, &mut quiet);
        let seen = target.observed.observe(&setting, &plan, &mut watch);
        let seen = seen.map_err(|error| error.to_string())?;
        Ok::<_, String>(seen.summary().goodput().mean)
    };
    let rate = ends.path.near().run(run);
    Ok((rate.map_err(|error| error.to_string())??, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_of_iperf3_has_rate_and_processors() {
        let said = r#"{"end": {"sum_received": {"bits_per_second": 4.31e7},
            "cpu_utilization_percent": {"host_total": 3.5, "remote_total": 4.25}}}"#;
        let expected = (Rate::from_bits_per_second(43_100_000), Some([3.5, 4.25]));
        assert_eq!(read(said), Ok(expected));
        let refused = read(r#"{"error": "unable to connect"}"#).unwrap_err();
        assert_eq!(refused, "iperf3 says `unable to connect`");
        assert!(read("killed").unwrap_err().contains("`killed`"));
        assert!(read("{}").unwrap_err().contains("no rate"));
    }
}

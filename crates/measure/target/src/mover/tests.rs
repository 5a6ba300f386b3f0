//! Clients that go wrong, made of shell scripts, and one that goes well.

use movers::{Client, Far, Invocation, Job, Removal, Unable, Version};
use observe::{
    Direction, Fault, MoverAxes, MoverCommand, SamplePlan, Setting, StreamCount, Target,
    TargetError, Window,
};
use units::{Bytes, Span};

use super::{MoverTarget, Patience};

/// A client that is a script.
struct Scripted {
    program: &'static str,
    version: &'static str,
    script: &'static str,
}

impl Client for Scripted {
    fn program(&self) -> &'static str {
        self.program
    }

    fn package(&self) -> &'static str {
        "scripted-package"
    }

    fn ask_version(&self) -> Invocation {
        sh(self.program, self.version)
    }

    fn version(&self, answer: &str) -> Option<Version> {
        Version::behind("version", answer)
    }

    fn oldest(&self) -> Version {
        Version::new(&[2])
    }

    fn axes(&self) -> MoverAxes {
        MoverAxes {
            streams_max: StreamCount::MAX,
            window: true,
            window_in_turn: None,
            pacing: false,
            concurrency: Vec::new(),
            pipelining: Vec::new(),
            block: Vec::new(),
        }
    }

    fn invocation(&self, _: &Job<'_>) -> Result<Invocation, Unable> {
        Ok(sh(self.program, self.script))
    }

    fn removal(&self, _: &Far, _: &[String], _: Direction) -> Result<Removal, Unable> {
        Ok(Removal::Run(sh("sh", "echo it is mine; exit 1")))
    }

    fn command(&self, _: &Far, _: &[String], _: &Setting) -> MoverCommand {
        MoverCommand {
            program: self.program.to_owned(),
            line: String::new(),
            note: None,
        }
    }

    fn printed(&self, text: &str) -> Option<movers::Printed> {
        let last = text
            .lines()
            .rev()
            .find_map(|line| line.strip_suffix(" bytes"))?;
        let bytes = Bytes::new(last.parse().ok()?);
        Some(movers::Printed { bytes })
    }
}

fn sh(program: &str, script: &str) -> Invocation {
    Invocation {
        arguments: ["-c", script].map(str::to_owned).to_vec(),
        ..Invocation::of(program)
    }
}

const VERSION: &str = "echo version 2.5";

fn target(client: Scripted) -> MoverTarget {
    let far = Far::parse("scp://far.invalid/file").unwrap().unwrap();
    let mut target = MoverTarget::new(far, Vec::new());
    target.client = Box::leak(Box::new(client));
    target.patience = Patience {
        begin: Span::from_secs(2),
        stall: Span::from_secs(2),
        answer: Span::from_secs(20),
    };
    target
}

fn plan() -> SamplePlan {
    SamplePlan {
        unloaded: Span::ZERO,
        ..SamplePlan::lasting(Span::from_secs(3))
    }
}

fn error_of(script: &'static str) -> TargetError {
    let mut target = target(Scripted {
        program: "sh",
        version: VERSION,
        script,
    });
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    target.observe(&setting, &plan(), &mut ()).unwrap_err()
}

#[test]
fn a_missing_program_is_named_with_its_package() {
    let mut target = target(Scripted {
        program: "no-such-mover",
        version: VERSION,
        script: "",
    });
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let error = target.observe(&setting, &plan(), &mut ()).unwrap_err();
    assert_eq!(error.what, "`no-such-mover` is not installed here");
    let hint = error.hint.unwrap();
    assert_eq!(hint, "on Debian: `apt-get install scripted-package`");
}

#[test]
fn a_version_that_is_too_old_or_unknown_is_refused_before_anything_is_sent() {
    for (version, wanted) in [
        ("echo version 1.9", "`sh` 1.9 is older than 2"),
        (
            "echo Fassung zwei",
            "does not tell its version; it said: Fassung zwei",
        ),
    ] {
        let mut target = target(Scripted {
            program: "sh",
            version,
            script: "echo must not run; exit 9",
        });
        let setting = Setting::new(StreamCount::ONE, Window::Auto);
        let error = target.observe(&setting, &plan(), &mut ()).unwrap_err();
        assert!(error.what.contains(wanted), "{}", error.what);
    }
}

#[test]
fn a_program_that_refuses_is_quoted_with_its_exit_code() {
    let error = error_of("echo Login incorrect >&2; exit 7");
    assert_eq!(error.fault, Fault::Run);
    assert_eq!(
        error.what,
        "`sh` ended with exit code 7; it said: Login incorrect"
    );
}

#[test]
fn one_that_is_killed_says_by_which_signal() {
    let error = error_of("kill -9 $$");
    assert_eq!(error.what, "`sh` was ended by signal 9; it said nothing");
}

#[test]
fn one_that_hangs_is_ended_and_quoted() {
    let error = error_of("echo Password:; exec sleep 60");
    assert_eq!(
        error.what,
        "`sh` moved nothing for 2.00 s; it said: Password:"
    );
    let error = error_of("echo 5000000 bytes; exec sleep 60");
    assert!(
        error.what.contains("moved nothing more for 2.00 s"),
        "{}",
        error.what
    );
}

#[test]
fn one_that_ends_well_without_a_word_has_moved_nothing() {
    let error = error_of("echo Fertig");
    assert_eq!(
        error.what,
        "`sh` ended without moving data; it said: Fertig"
    );
}

#[test]
fn what_is_fetched_at_once_is_too_little() {
    let error = error_of("echo 70000 bytes; sleep 0.3");
    assert!(
        error.what.contains("had moved all of it after"),
        "{}",
        error.what
    );
    assert!(error.hint.unwrap().contains("larger file"));
}

#[test]
fn without_connections_what_is_printed_counts() {
    let mut target = target(Scripted {
        program: "sh",
        version: VERSION,
        script: "n=0; while true; do n=$((n+125000)); echo $n bytes; sleep 0.1; done",
    });
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let seen = target.observe(&setting, &plan(), &mut ()).unwrap();
    assert_eq!(seen.streams.len(), 1);
    assert_eq!(seen.streams[0].delivery.counted, observe::Counted::BySender);
    // 10 Mbit/s less what sh needs for a round: no speed is asserted, only that it is counted.
    assert!(seen.bytes_delivered() > Bytes::new(125_000));
}

#[test]
fn what_cannot_be_removed_is_told() {
    let mut target = target(Scripted {
        program: "sh",
        version: VERSION,
        script: "exit 1",
    });
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    assert!(target.observe(&setting, &plan(), &mut ()).is_err());
    target.stop();
    let left = target.left_behind().unwrap();
    assert!(
        left.starts_with("the test file `/file.trunkline-test` was left"),
        "{left}"
    );
    assert!(left.contains("it said: it is mine"), "{left}");
}

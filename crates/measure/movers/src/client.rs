//! The programs, and what is known of each.

use observe::{Direction, MoverAxes, MoverCommand, Setting};

use crate::job::{Invocation, Job, Removal, Unable};
use crate::printed::Printed;
use crate::{Far, Version};

/// What is known of one program.
pub trait Client: Send + Sync {
    /// The program's name.
    fn program(&self) -> &'static str;

    /// The Debian package that has it.
    fn package(&self) -> &'static str;

    /// What makes it tell its version, which [`Client::version`] then finds.
    fn ask_version(&self) -> Invocation;

    /// The version in what it answered.
    fn version(&self, answer: &str) -> Option<Version>;

    /// The oldest version whose options are those used here.
    fn oldest(&self) -> Version;

    /// What it lets its user set.
    fn axes(&self) -> MoverAxes;

    /// Its command line for a job.
    ///
    /// # Errors
    /// When it cannot do what the setting asks for.
    fn invocation(&self, job: &Job<'_>) -> Result<Invocation, Unable>;

    /// How what a job of this direction has left at the far end is removed.
    ///
    /// # Errors
    /// When nothing could remove it: such a job must not be run.
    fn removal(
        &self,
        far: &Far,
        options: &[String],
        direction: Direction,
    ) -> Result<Removal, Unable>;

    /// The command that a user is to type for a setting.
    fn command(&self, far: &Far, options: &[String], setting: &Setting) -> MoverCommand;

    /// What it says in all that it has printed; `None` where that says nothing of a transfer.
    fn printed(&self, text: &str) -> Option<Printed>;
}

/// No axes but streams, up to this many.
pub(crate) fn streams_only(streams_max: u64) -> MoverAxes {
    let most = observe::StreamCount::new(streams_max);
    MoverAxes {
        streams_max: most.unwrap_or(observe::StreamCount::MAX),
        window: false,
        window_in_turn: None,
        pacing: false,
        concurrency: Vec::new(),
        pipelining: Vec::new(),
        block: Vec::new(),
    }
}

/// Refuses what no program does, data both ways at once, and what this one has no option for.
pub(crate) fn refuse_unknown(client: &impl Client, setting: &Setting) -> Result<(), Unable> {
    let program = client.program();
    let axes = client.axes();
    let unable =
        |what: &str, hint: &str| Err(crate::job::unable(format!("{program} {what}"), hint));
    if setting.direction == Direction::Both {
        return unable(
            "is not run in both directions at once",
            "leave `--bidir` out, or use `-R`",
        );
    }
    if setting.streams > axes.streams_max {
        let most = axes.streams_max;
        let what = format!(
            "takes no more than {most} streams, and {} were asked for",
            setting.streams
        );
        return unable(&what, &format!("ask for {most} or fewer"));
    }
    if setting.window.fixed().is_some() && !axes.window {
        return unable(
            "has no option for the window",
            "leave the window out: `-w auto`",
        );
    }
    if setting.pacing.is_some() && !axes.pacing {
        return unable(
            "has no option for the pace of its streams",
            "leave the pace out",
        );
    }
    Ok(())
}

/// Refuses what only programs that measure have options for.
pub(crate) fn refuse_tcp(client: &impl Client, setting: &Setting) -> Result<(), Unable> {
    let program = client.program();
    let asked = match (&setting.congestion, setting.mss) {
        (Some(name), _) => format!("the congestion control, and `{name}` was asked for"),
        (_, Some(mss)) => format!("the segment size, and {mss} was asked for"),
        _ => return Ok(()),
    };
    Err(crate::job::unable(
        format!("{program} has no option for {asked}"),
        "leave it out; `sysctl net.ipv4.tcp_congestion_control` sets the host's own",
    ))
}

//! A mail, and the command that takes it on its standard input.

use crate::SendError;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use changes::UnixTime;
use mail_builder::MessageBuilder;
use mail_builder::headers::address::Address as Field;
use mail_builder::headers::date::Date;
use mail_builder::headers::raw::Raw;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::config::{Address, Mail};
use crate::words::clean;
use crate::{Notification, State};

/// Time between two looks whether the command has ended.
const LOOK: Duration = Duration::from_millis(20);
/// As much of what the command said is read, in bytes.
const READ: u64 = 4096;

/// The mail as text of RFC 5322, with the line ends that local programs use.
///
/// No header takes a line end over from a value: addresses have none, and control characters of
/// the subject become spaces.
pub(super) fn text(
    mail: &Mail,
    notification: &Notification,
    now: UnixTime,
) -> Result<String, SendError> {
    let to = mail.to.iter().map(Address::as_str).collect();
    let domain = mail.from.domain();
    let identity = |id: &str| format!("{id}@{domain}");
    let seconds = i64::try_from(now.seconds()).unwrap_or(i64::MAX);
    let subject = format!("[{}] {}", notification.severity, notification.headline);
    let mut message = MessageBuilder::new()
        .from(mail.from.as_str())
        .to(to_list(to))
        .subject(clean(&subject))
        .date(Date::new(seconds))
        .message_id(identity(&notification.id))
        .header("Auto-Submitted", Raw::new("auto-generated"))
        .text_body(notification.text());
    if notification.state == State::Over {
        message = message.in_reply_to(identity(&format!("{}-began", notification.incident)));
    }
    let text = message.write_to_string();
    let text = text.map_err(|error| SendError::Message(error.to_string()))?;
    Ok(text.replace("\r\n", "\n"))
}

fn to_list(addresses: Vec<&str>) -> Field<'_> {
    Field::new_list(addresses.into_iter().map(Field::from).collect())
}

/// Runs the command with the mail on its standard input; ends it, with all that it started, after
/// `limit`.
pub(super) fn run(mail: &Mail, text: &str, limit: Duration) -> Result<(), SendError> {
    let failed = |problem: String| SendError::Command {
        program: mail.program.clone(),
        problem,
    };
    // Files, not pipes: neither a command that reads nothing nor one that leaves a child behind
    // can block this.
    let files = files(text).map_err(|error| failed(format!("got no message: {error}")))?;
    let (input, said, shown) = files;
    let mut child = Command::new(&mail.program)
        .args(&mail.arguments)
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::from(said))
        .process_group(0)
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}; write its whole path")))?;
    match wait(&mut child, limit) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(format!("ended with {status}: {}", beginning(shown)))),
        None => Err(failed(format!("was ended after {} s", limit.as_secs()))),
    }
}

type Files = (std::fs::File, std::fs::File, std::fs::File);

/// The message to read, and a file for what the command says, twice.
fn files(text: &str) -> std::io::Result<Files> {
    let mut input = tempfile::tempfile()?;
    input.write_all(text.as_bytes())?;
    input.seek(SeekFrom::Start(0))?;
    let said = tempfile::tempfile()?;
    let shown = said.try_clone()?;
    Ok((input, said, shown))
}

/// Waits for a child; kills its group after `limit`.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if started.elapsed() < limit => thread::sleep(LOOK),
            _ => break,
        }
    }
    if let Ok(group) = i32::try_from(child.id()) {
        // It may have ended by itself in between.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
    None
}

fn beginning(mut said: std::fs::File) -> String {
    let mut bytes = Vec::new();
    let read = said.seek(SeekFrom::Start(0));
    let read = read.and_then(|_| said.take(READ).read_to_end(&mut bytes));
    let text = clean(String::from_utf8_lossy(&bytes).trim());
    match read {
        Ok(_) if !text.is_empty() => text,
        _ => "it said nothing".to_owned(),
    }
}

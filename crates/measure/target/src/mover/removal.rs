//! Removes what runs have left at the far end.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use movers::{Far, Invocation, Removal};
use sockets::Clock;
use sockets::child::Child;
use units::{Span, Time};

use super::errors::last_words;

/// How long a far end may take for each answer.
const ANSWER_MAX: Duration = Duration::from_secs(15);
/// How long a program may take to remove a file.
const PROGRAM_MAX: Span = Span::from_secs(30);
/// The longest line, and the most lines, of an answer.
const LINE_MAX: u64 = 4096;
const LINES_MAX: usize = 100;

/// Removes it; `Err` says in a sentence without a full stop what was left, and why.
pub(super) fn remove(removal: &Removal, far: &Far) -> Result<(), String> {
    let removed = match removal {
        Removal::Nothing => Ok(()),
        Removal::Run(invocation) => run(invocation),
        Removal::FtpDelete {
            host,
            port,
            user,
            password,
            path,
        } => delete(
            host,
            *port,
            &[("USER", user), ("PASS", password), ("DELE", path)],
        ),
    };
    removed.map_err(|why| {
        let path = far.test_path();
        format!("the test file `{path}` was left at the far end: {why}")
    })
}

fn run(invocation: &Invocation) -> Result<(), String> {
    let (arguments, variables) = (&invocation.arguments, &invocation.environment);
    let program = &invocation.program;
    let child = Child::start(program, arguments, variables);
    let mut child = child.map_err(|error| format!("`{program}` could not be started: {error}"))?;
    let clock = Clock::start();
    loop {
        match child.ended() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(None) if clock.now().since(Time::ZERO) < PROGRAM_MAX => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => {
                return Err(format!(
                    "`{program}` failed; {}",
                    last_words(&child.last_said())
                ));
            }
        }
    }
}

/// A connection of FTP's control protocol: RFC 959 sections 4 and 5.
fn delete(host: &str, port: u16, commands: &[(&str, &String)]) -> Result<(), String> {
    let mut connection = connect(host, port).map_err(|error| error.to_string())?;
    answer(&mut connection)?;
    for (verb, word) in commands {
        let line = format!("{verb} {word}\r\n");
        let sent = connection.get_mut().write_all(line.as_bytes());
        sent.map_err(|error| error.to_string())?;
        answer(&mut connection)?;
    }
    Ok(())
}

fn connect(host: &str, port: u16) -> io::Result<BufReader<TcpStream>> {
    let mut last = io::Error::other("the host's name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, ANSWER_MAX) {
            Ok(stream) => {
                stream.set_read_timeout(Some(ANSWER_MAX))?;
                stream.set_write_timeout(Some(ANSWER_MAX))?;
                return Ok(BufReader::new(stream));
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Reads an answer to its last line, `DDD text`. Those that begin with 4 or 5 are refusals, but for
/// a file that is not there.
fn answer(connection: &mut BufReader<TcpStream>) -> Result<(), String> {
    let mut said = String::new();
    for _ in 0..LINES_MAX {
        let mut line = String::new();
        let read = io::Read::take(&mut *connection, LINE_MAX).read_line(&mut line);
        match read {
            Ok(0) => return Err("the server hung up".to_owned()),
            Ok(_) => said.push_str(&line),
            Err(error) => return Err(error.to_string()),
        }
        let is_last = line
            .get(..3)
            .is_some_and(|code| code.bytes().all(|c| c.is_ascii_digit()))
            && line.as_bytes().get(3) == Some(&b' ');
        if is_last {
            let is_refusal = line.starts_with(['4', '5']);
            let is_gone = said.contains("No such file");
            return match is_refusal && !is_gone {
                true => Err(last_words(&said)),
                false => Ok(()),
            };
        }
    }
    Err("the server's answer has no end".to_owned())
}

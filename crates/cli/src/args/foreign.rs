//! Flags and commands of rsync, scp and iperf3 that have another name here, or none.
//!
//! The message for one says what to write, instead of naming a flag that looks similar.

use std::ffi::OsString;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Arguments;

/// Flags or commands of one kind, and what to write in place of them.
struct Foreign {
    words: &'static [&'static str],
    answer: &'static str,
}

const fn answer(words: &'static [&'static str], answer: &'static str) -> Foreign {
    Foreign { words, answer }
}

/// Of rsync and scp, to `copy`.
const COPY: &[Foreign] = &[
    answer(
        &["--bwlimit"],
        "write `--max-rate RATE` in bits per second, eight times rsync's bytes: its 20m is about \
            168M; `trunkline limit` changes it while the copy runs",
    ),
    answer(
        &["--rate", "--limit", "--limit-rate"],
        "write `--max-rate RATE`; `trunkline limit` changes it while the copy runs",
    ),
    answer(
        &["--progress", "--info", "--stats", "--human-readable"],
        "leave it out: progress and figures are shown anyway; `-v` names each file, `--json` has \
            everything",
    ),
    answer(
        &["-i", "--itemize-changes"],
        "a key for ssh is given as `-e 'ssh -i KEY'`; rsync's list of changes is `-n` or `-v`",
    ),
    answer(
        &["-o"],
        "an option of ssh is given as `-e 'ssh -o OPTION'`; owners and groups are kept with \
            `--owner`",
    ),
    answer(&["-J"], "a gate on the way is given as `-e 'ssh -J GATE'`"),
    answer(&["-F"], "a file for ssh is given as `-e 'ssh -F FILE'`"),
    answer(&["-B"], "give it to ssh: `-e 'ssh -o BatchMode=yes'`"),
    answer(
        &["-l"],
        "scp's bound on the rate is `--max-rate 100M`, in bits per second; links are kept as links \
            anyway",
    ),
    answer(
        &[
            "-t",
            "--times",
            "--perms",
            "--links",
            "-E",
            "--executability",
        ],
        "leave it out: times, permissions and links are kept anyway",
    ),
    answer(
        &["--no-perms", "--no-p", "--no-times", "--no-t", "--chmod"],
        "write `--no-preserve permissions` or `--no-preserve times`",
    ),
    answer(
        &["-u", "--update", "--existing", "--size-only"],
        "a file that differs in size or time is replaced, whichever is newer; `-c` compares \
            contents, `--ignore-existing` leaves whatever is there",
    ),
    answer(
        &["-I", "--ignore-times"],
        "write `--overwrite` to send all files again",
    ),
    answer(
        &[
            "--partial",
            "--partial-dir",
            "--append",
            "--append-verify",
            "--inplace",
            "-W",
            "--whole-file",
            "--fsync",
        ],
        "leave it out: what has arrived is kept, checked and on the disk anyway; run the same \
            command again to resume",
    ),
    answer(&["--rsync-path"], "write `--far-program PATH`"),
    answer(
        &[
            "-D",
            "--devices",
            "--specials",
            "--chown",
            "--usermap",
            "--groupmap",
            "-N",
            "--crtimes",
            "--super",
            "--fake-super",
        ],
        "devices, pipes and times of creation are not kept, and no other owners than those of \
            the source; use rsync or tar for those",
    ),
    answer(
        &["-g", "--group"],
        "write `--owner`: it keeps owners and groups",
    ),
    answer(
        &["--numeric-ids"],
        "write `--owner=numbers`: it keeps owners and groups by their numbers",
    ),
    answer(
        &["--no-owner", "--no-o", "--no-group", "--no-g"],
        "leave it out: owners and groups are kept with `--owner` alone",
    ),
    answer(
        &[
            "--del",
            "--delete-before",
            "--delete-during",
            "--delete-delay",
            "--delete-after",
        ],
        "write `--delete`: it removes once everything is copied",
    ),
    answer(
        &[
            "--delete-excluded",
            "--max-delete",
            "--force",
            "--ignore-errors",
        ],
        "`--delete` keeps what `--exclude` names and removes nothing after an error; look with \
            `-n` first",
    ),
    answer(
        &[
            "--exclude-from",
            "--include-from",
            "--filter",
            "-f",
            "--cvs-exclude",
        ],
        "give each pattern with `--exclude PATTERN` or `--include PATTERN`; the first that fits \
            decides",
    ),
    answer(
        &["--remove-source-files"],
        "sources are never removed; exit status 0 says that all of them are copied",
    ),
    answer(
        &[
            "--link-dest",
            "--compare-dest",
            "--copy-dest",
            "-b",
            "--backup",
            "--backup-dir",
            "--suffix",
        ],
        "older versions are not kept; make a snapshot at the destination first",
    ),
    answer(&["--timeout", "--contimeout"], "write `--patience TIME`"),
    answer(
        &["--port"],
        "the port of a server is part of its place: trunkline://HOST:PORT/PATH; that of ssh is `-e 'ssh -p PORT'`",
    ),
    answer(
        &["--relative", "--mkpath"],
        "`--files-from` keeps the folders of each name, and makes them",
    ),
    answer(&["--password-file"], "write `--token-file FILE`"),
    answer(
        &["--out-format", "--log-file-format"],
        "write `--json`, or `-v` for people",
    ),
    answer(
        &["--compress-level", "--zl", "--compress-choice", "--zc"],
        "write `-z`: it compresses for as long as that is faster",
    ),
    answer(&["-d", "--dirs"], "folders are copied with `-r`"),
    answer(
        &["-x", "--one-file-system", "-m", "--prune-empty-dirs"],
        "name the folders to copy, or leave some out with `--exclude PATTERN`",
    ),
    answer(
        &[
            "--safe-links",
            "--copy-unsafe-links",
            "-k",
            "--copy-dirlinks",
            "-K",
            "--keep-dirlinks",
        ],
        "links are copied as they are, or with `-L` what they point to",
    ),
    answer(
        &["-3"],
        "leave it out: `trunkline copy A:FILE B:` has the source send to the destination itself",
    ),
    answer(
        &["-T", "-O", "-s", "--protect-args"],
        "leave it out: names at the far end pass through no shell",
    ),
];

/// Of iperf3, to commands that measure.
const MEASURE: &[Foreign] = &[
    answer(
        &["-c", "--client"],
        "name the host without a flag: `trunkline measure HOST`",
    ),
    answer(
        &["-s", "--server"],
        "the far end is a command of its own: `trunkline serve`",
    ),
    answer(
        &["--username", "--rsa-public-key-path", "--use-pkcs1-padding"],
        "write `--user NAME --user-key FILE`; `--user-padding pkcs1` is that of iperf3 before 3.17",
    ),
    answer(&["-J"], "write `--json`"),
    answer(
        &["-b", "--bitrate", "--bandwidth"],
        "write `--pacing 100M`, for each stream, in `trunkline measure`; of datagrams `--udp 100M`",
    ),
    answer(
        &["-u"],
        "write `--udp 50M` for datagrams at a rate, of all streams together, or `--udp find`; \
         `--transport udp` is reliable streams over QUIC",
    ),
    answer(
        &["-O", "--omit"],
        "leave it out: the warm-up is found in the data",
    ),
    answer(
        &[
            "-i",
            "--interval",
            "-V",
            "--verbose",
            "-f",
            "--format",
            "--get-server-output",
        ],
        "leave it out: both ends are read ten times a second; `--json` has every reading",
    ),
    answer(&["--time"], "write `--duration TIME` or `-t TIME`"),
    answer(&["--parallel"], "write `--streams COUNT` or `-P COUNT`"),
    answer(
        &["-k", "--blockcount", "--len"],
        "write `-n SIZE` for an amount; the size of writes is chosen here, that of datagrams is \
         `-l SIZE`",
    ),
    answer(
        &[
            "-Z",
            "--zerocopy",
            "-F",
            "--file",
            "-T",
            "--title",
            "-A",
            "--affinity",
            "-N",
            "--no-delay",
            "--cport",
        ],
        "it has no counterpart here; iperf3 itself measures against `trunkline serve` with it",
    ),
    answer(&["-B"], "write `--bind ADDRESS`, with `%DEVICE` behind it"),
    answer(
        &["-S", "--tos"],
        "write `--dscp CLASS`: an octet of 32 is `CS1`, or the number 8",
    ),
    answer(&["--logfile"], "send the output into a file: `> FILE`"),
    answer(
        &["--connect-timeout"],
        "leave it out: a busy server is asked again for 7.5 s",
    ),
];

/// Of iperf3, to `serve`.
const SERVE: &[Foreign] = &[
    answer(
        &[
            "--authorized-users-path",
            "--rsa-private-key-path",
            "--time-skew-threshold",
            "--use-pkcs1-padding",
        ],
        "write `--iperf3-users FILE --iperf3-key FILE`, `--iperf3-skew TIME` and \
            `--iperf3-padding pkcs1`",
    ),
    answer(
        &["-s", "--server"],
        "leave it out: `trunkline serve` is the server",
    ),
    answer(
        &["-D", "--daemon"],
        "leave it to the system: `systemd-run trunkline serve`, or `nohup trunkline serve &`",
    ),
    answer(
        &["-I", "--pidfile"],
        "the shell knows the process: `trunkline serve & echo $! > FILE`",
    ),
    answer(&["--logfile"], "the log is standard error: `2> FILE`"),
    answer(
        &["-1", "--one-off", "--idle-timeout"],
        "it serves until it is stopped: Ctrl-C or SIGTERM",
    ),
    answer(
        &["-J", "--json", "-i", "--interval", "-V"],
        "the results are at the client: `trunkline measure --json`",
    ),
    answer(&["--server-bitrate-limit"], "write `--test-rate-max 500M`"),
    answer(&["--server-max-duration"], "write `--test-time-max 60s`"),
];

/// Of `tune` and `measure`, to `simulate`.
const SIMULATE: &[Foreign] = &[answer(
    &["-C", "--congestion"],
    "write `--variant NAME`: what the simulated senders do",
)];

/// Commands of other programs.
const COMMANDS: &[Foreign] = &[
    answer(
        &["cp", "scp", "sync", "rsync", "get", "put", "send", "mv"],
        "write `trunkline copy`",
    ),
    answer(&["server", "daemon"], "write `trunkline serve`"),
    answer(
        &["iperf", "iperf3", "client", "bench", "speedtest"],
        "write `trunkline measure HOST`, or `trunkline tune HOST` for the best setting",
    ),
    answer(
        &["ping", "traceroute", "tracepath", "mtr"],
        "write `trunkline path HOST`",
    ),
];

/// Of iperf3, where no command is named.
const NONE: &[Foreign] = &[
    answer(&["-s", "--server"], "write `trunkline serve`"),
    answer(
        &["-c", "--client"],
        "write `trunkline measure HOST`, or `trunkline tune HOST` for the best setting",
    ),
];

/// A command line that cannot be followed.
pub(crate) enum Refused {
    /// As clap says it, or what was asked for of clap: help, the version.
    Clap(clap::Error),
    /// A flag of another program.
    Foreign {
        /// The flag or command.
        word: String,
        /// What to write.
        answer: &'static str,
    },
}

/// Reads the command line.
pub(crate) fn parse(words: &[OsString]) -> Result<Arguments, Refused> {
    Arguments::try_parse_from(words).map_err(|error| refused(words, error))
}

fn refused(words: &[OsString], mut error: clap::Error) -> Refused {
    let command = words.get(1).and_then(|word| word.to_str());
    let (table, context) = match error.kind() {
        ErrorKind::UnknownArgument => (table_of(command), ContextKind::InvalidArg),
        ErrorKind::InvalidSubcommand => (COMMANDS, ContextKind::InvalidSubcommand),
        _ => return Refused::Clap(error),
    };
    if let Some(ContextValue::String(word)) = error.get(context) {
        let word = word.split('=').next().unwrap_or_default().to_owned();
        if let Some(one) = table.iter().find(|one| one.words.contains(&&*word)) {
            let answer = one.answer;
            return Refused::Foreign { word, answer };
        }
    }
    if error.kind() == ErrorKind::UnknownArgument {
        // What it suggests is to pass the flag as a name, which is never meant.
        error.remove(ContextKind::Suggested);
    }
    Refused::Clap(error)
}

fn table_of(command: Option<&str>) -> &'static [Foreign] {
    match command {
        Some("copy") => COPY,
        Some("serve") => SERVE,
        Some("simulate") => SIMULATE,
        Some("measure" | "tune" | "sweep" | "path" | "responsiveness") => MEASURE,
        Some(word) if !word.starts_with('-') => &[],
        _ => NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(words: &str) -> (String, &'static str) {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        match parse(&words) {
            Err(Refused::Foreign { word, answer }) => (word, answer),
            Err(Refused::Clap(error)) => panic!("{words:?}: {error}"),
            Ok(_) => panic!("{words:?} is understood"),
        }
    }

    #[test]
    fn flags_of_other_programs_are_answered_with_ours() {
        let table = [
            (
                "trunkline copy --bwlimit=100 a h:b",
                "--bwlimit",
                "--max-rate",
            ),
            (
                "trunkline copy -r --progress a h:b",
                "--progress",
                "shown anyway",
            ),
            ("trunkline copy -i key a h:b", "-i", "-e 'ssh -i KEY'"),
            ("trunkline copy -avu a h:b", "-u", "--ignore-existing"),
            ("trunkline copy a -l 1000 h:b", "-l", "--max-rate"),
            ("trunkline copy -aD a h:b", "-D", "rsync or tar"),
            ("trunkline copy -ag a h:b", "-g", "--owner"),
            ("trunkline measure -c h", "-c", "measure HOST"),
            ("trunkline measure h -u", "-u", "--udp 50M"),
            ("trunkline copy -3 a:x b:y", "-3", "leave it out"),
            ("trunkline copy --rate 10M a h:b", "--rate", "--max-rate"),
            ("trunkline simulate -C cubic p", "-C", "--variant"),
            ("trunkline cp a h:b", "cp", "trunkline copy"),
            ("trunkline tune h -i 1", "-i", "every reading"),
            ("trunkline serve -s", "-s", "is the server"),
            ("trunkline serve -D", "-D", "systemd-run"),
            ("trunkline -c h", "-c", "trunkline measure HOST"),
            ("trunkline -s", "-s", "trunkline serve"),
        ];
        for (words, flag, part) in table {
            let (found, answer) = told(words);
            assert_eq!(found, flag, "{words}");
            assert!(answer.contains(part), "{words}: {answer}");
        }
    }

    /// A flag that became one of ours would never be answered, and a row of it would mislead.
    #[test]
    fn no_row_is_dead_and_no_flag_stands_twice() {
        let rows = [
            ("copy", COPY),
            ("measure", MEASURE),
            ("serve", SERVE),
            ("simulate", SIMULATE),
            ("", COMMANDS),
        ];
        for (command, table) in rows {
            let flags: Vec<&str> = table.iter().flat_map(|one| one.words).copied().collect();
            for (at, flag) in flags.iter().enumerate() {
                assert!(!flags[..at].contains(flag), "{command} {flag} twice");
                let (found, _) = told(&format!("trunkline {command} {flag}"));
                assert_eq!(found, *flag, "{command}");
            }
        }
    }

    #[test]
    fn an_unknown_flag_is_not_suggested_as_a_name() {
        let words = ["trunkline", "copy", "--nosuch", "a", "h:b"].map(OsString::from);
        let Err(Refused::Clap(error)) = parse(&words) else {
            panic!("it is a flag of no program");
        };
        let text = error.to_string();
        assert!(text.contains("--nosuch"), "{text}");
        assert!(!text.contains("as a value"), "{text}");
    }
}

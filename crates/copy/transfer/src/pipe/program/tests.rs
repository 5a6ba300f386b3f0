use std::fs;
use std::path::Path;
use std::time::Instant;

use super::*;

fn start(words: &[&str], direction: CopyDirection) -> StartedProgram {
    let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
    Program::start(&words, direction, Arc::default()).unwrap()
}

fn shell(script: &str, direction: CopyDirection) -> StartedProgram {
    start(&["sh", "-c", script], direction)
}

fn code(program: &Program) -> u8 {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(code) = program.exited() {
            return code;
        }
        assert!(Instant::now() < until, "it does not end");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A program that takes the end of its input for the end of a whole one.
fn takes(folder: &Path) -> String {
    let folder = folder.display();
    format!("cat > {folder}/part && mv {folder}/part {folder}/whole")
}

#[test]
fn a_program_reads_all_prints_and_ends_with_its_code() {
    let started = shell("cat; echo wrong >&2; exit 5", CopyDirection::Put);
    let mut input = started.input.unwrap();
    input.write(b"right").unwrap();
    input.close();
    assert_eq!(code(&started.program), 5);
    let mut printed = [Vec::new(), Vec::new()];
    let mut from = 0;
    while let Some(part) = started.program.printed(from) {
        from = part.offset + part.bytes.len() as u64;
        printed[part.output as usize].extend(part.bytes);
    }
    assert_eq!(printed, [b"right".to_vec(), b"wrong\n".to_vec()]);
    assert!(started.program.on_passed(from));
    assert!(started.program.printed(0).is_none());
    assert!(!started.program.on_passed(from + 1));
}

#[test]
fn a_program_that_is_ended_never_reads_the_end_of_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let started = shell(&takes(folder.path()), CopyDirection::Put);
    let mut input = started.input.unwrap();
    input.write(b"half").unwrap();
    started.program.end();
    drop(input);
    assert_eq!(code(&started.program), 128 + 15);
    thread::sleep(Duration::from_millis(50));
    assert!(!folder.path().join("whole").exists());
}

/// Its leader ends at once, and what it has started reads on.
#[test]
fn children_that_read_on_never_read_the_end_of_half_an_input() {
    let folder = tempfile::tempdir().unwrap();
    // By itself, what a shell starts in the background reads nothing.
    let script = format!("exec 3<&0; ({}) <&3 & exit 0", takes(folder.path()));
    let started = shell(&script, CopyDirection::Put);
    let mut input = started.input.unwrap();
    input.write(b"half").unwrap();
    while started.program.lock().code.is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    started.program.end();
    drop(input);
    thread::sleep(Duration::from_millis(50));
    assert!(!folder.path().join("whole").exists());
}

#[test]
fn one_that_ignores_sigterm_is_killed() {
    let started = shell(
        "trap '' TERM; while :; do sleep 0.1; done",
        CopyDirection::Put,
    );
    thread::sleep(Duration::from_millis(100));
    started.program.end();
    assert_eq!(code(&started.program), 128 + 9);
}

/// As when this process is killed: nothing says `done` to the guard.
#[test]
fn the_guard_kills_the_program_where_this_end_says_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let started = shell(&takes(folder.path()), CopyDirection::Put);
    let mut input = started.input.unwrap();
    input.write(b"half").unwrap();
    let held = started.program.guard.lock().unwrap().take().unwrap();
    let (mut guard, word) = (held.guard, held.word);
    // What a process has open is closed in any order when it ends.
    drop((input, held.input));
    thread::sleep(Duration::from_millis(50));
    assert!(
        !folder.path().join("whole").exists(),
        "the guard holds the input"
    );
    drop(word);
    guard.wait().unwrap();
    assert_eq!(code(&started.program), 128 + 9);
    assert!(!folder.path().join("whole").exists());
}

#[test]
fn what_prints_much_waits_until_it_is_passed_on() {
    let started = shell("head -c 3000000 /dev/zero", CopyDirection::Put);
    thread::sleep(Duration::from_millis(200));
    let (mut from, mut all) = (0, 0);
    loop {
        let passed = started.program.passed();
        let held = started.program.lock().came - passed;
        assert!(held <= OUTPUT_WINDOW, "{held} bytes held");
        match started.program.printed(from) {
            Some(part) => {
                all += part.bytes.len();
                from = part.offset + part.bytes.len() as u64;
                started.program.on_passed(from);
            }
            None if started.program.exited().is_some() => break,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
    assert_eq!(all, 3_000_000);
}

#[test]
fn outputs_that_a_child_in_the_background_holds_are_not_waited_for() {
    let started = shell("sleep 100 & echo x; exit 3", CopyDirection::Put);
    let began = Instant::now();
    while started.program.printed(0).is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    started.program.on_passed(2);
    assert_eq!(code(&started.program), 3);
    assert!(began.elapsed() < Duration::from_secs(15));
    let _ = killpg(started.program.group, Signal::SIGKILL);
}

#[test]
fn one_that_prints_for_the_streams_reads_nothing() {
    let started = shell("cat; echo over", CopyDirection::Get);
    let mut text = String::new();
    started.output.unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "over\n");
    assert_eq!(code(&started.program), 0);
    assert!(started.input.is_none());
}

#[test]
fn what_cannot_be_started_is_told_with_the_next_step() {
    let refused = |word: &str| {
        let words = [word.as_bytes().to_vec()];
        Program::start(&words, CopyDirection::Put, Arc::default())
            .err()
            .unwrap()
    };
    let missing = refused("/nowhere/at/all");
    assert_eq!(missing.kind, ProblemKind::NotFound);
    let line = refused("cat > x");
    assert!(line.hint.unwrap().contains("sh -c"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x");
    fs::write(&file, "no program").unwrap();
    assert_eq!(
        refused(file.to_str().unwrap()).kind,
        ProblemKind::Permission
    );
}

//! Any bytes as the line that starts a far end, or as its answer: refused without repeating the
//! line, or read, and written again as the same.

use copy_protocol::{StartAnswer, StartError, StartRequest};

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else {
        return;
    };
    match StartRequest::parse(line) {
        Ok((request, _)) => {
            let (again, _) = StartRequest::parse(&request.line()).expect("a line of ours");
            assert_eq!(again.secret.text(), request.secret.text());
            assert_eq!((again.ports, again.back), (request.ports, request.back));
        }
        Err(error) => refused(line, &error),
    }
    match StartAnswer::parse(line) {
        Ok(answer) => {
            assert!(!answer.software.chars().any(char::is_control));
            assert_eq!(StartAnswer::parse(&answer.line()), Ok(answer));
        }
        Err(error) => refused(line, &error),
    }
}

/// A line may be a secret: words as long as one are not repeated.
fn refused(line: &str, error: &StartError) {
    let said = format!("{error} {error:?}");
    let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
    assert!(!words.any(|word| word.len() >= 40 && said.contains(word)));
}

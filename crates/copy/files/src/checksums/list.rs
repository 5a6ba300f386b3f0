//! Lists of checksums as other programs write them.
//!
//! A line is `DIGEST  NAME` (`sha256sum`, `md5sum`, `b3sum`; a `*` before the name where they read
//! as binary), `DIGEST NAME` (`xrdadler32`, `xrdcrc32c`, `md5 -r`) or `SHA256 (NAME) = DIGEST`
//! (`--tag`, BSD, `openssl dgst`). A line that begins with `\` has a name with escapes: `\\`, `\n`,
//! `\r`. Lines may end with CR LF, those of a bag with CR alone, too. Empty lines and those that
//! begin with `#` say nothing.
//!
//! Source: coreutils' `digest.c` (split_3, bsd_split_3, filename_unescape), b3sum's README.

use std::io::{self, BufRead};

use super::Algorithm;

/// The longest line; the longest name of Linux, all escaped, and the longest digest are shorter.
const LINE_MAX: usize = 16 << 10;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The name of its algorithm, where the line has it.
    pub tag: Option<String>,
    /// The digest.
    pub digest: Vec<u8>,
    /// The file, as the list names it.
    pub name: Vec<u8>,
}

/// Lines of a list, each in bounded memory.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    number: u64,
    /// Whether CR alone ends a line.
    ends_at_cr: bool,
    /// Whether the last line ended at CR, so that LF behind it is of that end.
    is_behind_cr: bool,
}

impl<R: BufRead> Lines<R> {
    /// Those of `reader`, which end with LF or CR LF.
    pub fn new(reader: R) -> Self {
        Lines {
            reader,
            number: 0,
            ends_at_cr: false,
            is_behind_cr: false,
        }
    }

    /// Those of a file of a bag, which end with LF, CR or CR LF (RFC 8493, section 2.1.3).
    pub fn of_bag(reader: R) -> Self {
        Lines {
            ends_at_cr: true,
            ..Lines::new(reader)
        }
    }

    /// The next line with its number, which counts from 1, without its end; `None` instead of one
    /// that is too long. The list ends with `None`.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Option<Vec<u8>>)>> {
        let mut line = Vec::new();
        if !self.cut(&mut line)? {
            return Ok(None);
        }
        self.number += 1;
        if line.len() > LINE_MAX {
            return Ok(Some((self.number, None)));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let mark = b"\xEF\xBB\xBF";
        if self.number == 1 && line.starts_with(mark) {
            line.drain(..mark.len());
        }
        Ok(Some((self.number, Some(line))))
    }

    /// Goes behind the end of a line, and adds it to `line` as far as one byte behind
    /// [`LINE_MAX`]; `false` where there is none.
    fn cut(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let ends_at_cr = self.ends_at_cr;
        let is_end = |byte: &u8| *byte == b'\n' || (ends_at_cr && *byte == b'\r');
        let mut is_begun = false;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok(is_begun);
            }
            if self.is_behind_cr {
                self.is_behind_cr = false;
                if buffer[0] == b'\n' {
                    self.reader.consume(1);
                    continue;
                }
            }
            is_begun = true;
            let end = buffer.iter().position(is_end);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            let room = (LINE_MAX + 1).saturating_sub(line.len());
            line.extend_from_slice(&part[..part.len().min(room)]);
            self.is_behind_cr = end.is_some_and(|end| buffer[end] == b'\r');
            let length = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(length);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// Reads a line; `None` where it says nothing.
///
/// ```
/// use files::checksums::list::read;
/// let line = read(b"091e01de run7/hits.root").unwrap().unwrap();
/// assert_eq!(line.digest, [0x09, 0x1e, 0x01, 0xde]);
/// assert_eq!(line.name, b"run7/hits.root");
/// ```
///
/// # Errors
/// Why it is no line of a list, as half a sentence.
pub fn read(line: &[u8]) -> Result<Option<Line>, &'static str> {
    let line = line.trim_ascii_start();
    if line.is_empty() || line[0] == b'#' {
        return Ok(None);
    }
    let (line, is_escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let mut read = match digest_first(line) {
        Some(read) => read,
        None => {
            tag_first(line).ok_or("it is neither `DIGEST NAME` nor `ALGORITHM (NAME) = DIGEST`")?
        }
    };
    if is_escaped {
        read.name = unescaped(&read.name).ok_or("its name has an escape that is none")?;
    }
    if read.name.is_empty() {
        return Err("it has no name");
    }
    if read.name.contains(&0) {
        return Err("its name has a zero byte, as `--zero` writes; write the list without it");
    }
    Ok(Some(read))
}

fn digest_first(line: &[u8]) -> Option<Line> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit())?;
    let digest = from_hex(&line[..end])?;
    // One space, then a second one or `*`; with one space alone, the name.
    let rest = line[end..].strip_prefix(b" ")?;
    let name = match rest {
        [b' ' | b'*', name @ ..] => name,
        name => name,
    };
    Some(Line {
        tag: None,
        digest,
        name: name.to_vec(),
    })
}

fn tag_first(line: &[u8]) -> Option<Line> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let tag = std::str::from_utf8(&line[..open]).ok()?.trim();
    let is_word = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '/');
    if tag.is_empty() || !tag.chars().all(is_word) {
        return None;
    }
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let name = line.get(open + 1..close)?.to_vec();
    let rest = line[close + 1..].trim_ascii_start().strip_prefix(b"=")?;
    Some(Line {
        tag: Some(tag.to_owned()),
        digest: from_hex(rest.trim_ascii())?,
        name,
    })
}

/// Bytes of an even number of hexadecimal digits of either case.
pub(super) fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|n| u8::try_from(n).ok())
    };
    let pairs = digits.chunks_exact(2);
    if digits.is_empty() || !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?))
        .collect()
}

fn unescaped(name: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(plain)
}

/// Of which algorithms a line may be.
///
/// * `asked`: what the user said of lines that do not say it.
/// * `list`: the name of the list, which often has the algorithm.
///
/// # Errors
/// Why none can be it, as half a sentence.
pub fn candidates(
    line: &Line,
    asked: Option<Algorithm>,
    list: &str,
) -> Result<Vec<Algorithm>, String> {
    let digits = line.digest.len() * 2;
    if let Some(tag) = &line.tag {
        let tagged = Algorithm::named(tag);
        let tagged = tagged.ok_or_else(|| format!("`{tag}` is no checksum known here"))?;
        return of_length(tagged, digits);
    }
    if let Some(asked) = asked {
        return of_length(asked, digits);
    }
    if let Some(other) = foreign(list) {
        return Err(format!(
            "`{other}` in the list's name is no checksum known here"
        ));
    }
    let fit = |one: &Algorithm| one.length() == line.digest.len();
    let all: Vec<Algorithm> = Algorithm::ALL.into_iter().filter(fit).collect();
    if all.is_empty() {
        return Err(format!("no checksum known here has {digits} digits"));
    }
    let named = named_by(list);
    match all.iter().find(|one| Some(**one) == named) {
        Some(one) => Ok(vec![*one]),
        None => Ok(all),
    }
}

fn of_length(algorithm: Algorithm, digits: usize) -> Result<Vec<Algorithm>, String> {
    match algorithm.length() * 2 {
        wanted if wanted == digits => Ok(vec![algorithm]),
        wanted => Err(format!(
            "it has {digits} digits, and {algorithm} has {wanted}"
        )),
    }
}

/// The algorithm that the name of a list has in it: `SHA256SUMS`, `run7.b3`, `raw.adler32`.
fn named_by(list: &str) -> Option<Algorithm> {
    let longest = Algorithm::ALL
        .into_iter()
        .filter(|one| in_name(list, one.name()))
        .max_by_key(|one| one.name().len());
    let is_b3 = in_name(list, "b3sum") || list.to_ascii_lowercase().ends_with(".b3");
    longest.or(is_b3.then_some(Algorithm::Blake3))
}

/// Whether the last part of a list's name has `word` in it, in any case.
fn in_name(list: &str, word: &str) -> bool {
    last_part(list).contains(word)
}

/// Checksums that are not known here, and have as many digits as some that are.
const FOREIGN: [&str; 12] = [
    "b2sum",
    "b2sums",
    "blake2",
    "blake2b",
    "blake2b512",
    "blake2bp",
    "blake2s",
    "blake2s256",
    "blake2sp",
    "sha3",
    "sha3sum",
    "sha3sums",
];

/// One of them, where it is a word of its own in the last part of a list's name.
fn foreign(list: &str) -> Option<&'static str> {
    let name = last_part(list);
    let mut words = name.split(|sign: char| !sign.is_alphanumeric());
    words.find_map(|word| FOREIGN.into_iter().find(|one| *one == word))
}

fn last_part(list: &str) -> String {
    let name = list.rsplit('/').next().unwrap_or_default();
    name.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn name_of(line: &str) -> Vec<u8> {
        read(line.as_bytes()).unwrap().unwrap().name
    }

    #[test]
    fn every_form_gives_the_name() {
        for (form, name) in [
            (format!("{EMPTY}  a b"), "a b"),
            (format!("{EMPTY} *a b"), "a b"),
            (format!("{EMPTY} a b"), "a b"),
            (format!("{EMPTY}   a"), " a"),
            (format!("\\{EMPTY}  a\\nb\\\\c"), "a\nb\\c"),
            (format!("MD5 (a (1) b) = {EMPTY}"), "a (1) b"),
            (format!("MD5(a)= {}", EMPTY.to_uppercase()), "a"),
            (format!("\\MD5 (a\\rb) = {EMPTY}"), "a\rb"),
        ] {
            assert_eq!(name_of(&form), name.as_bytes(), "{form}");
        }
        assert_eq!(read(b""), Ok(None));
        assert_eq!(read(b"# made by hand"), Ok(None));
    }

    #[test]
    fn what_is_no_line_is_refused() {
        for form in [
            "hello",
            "d41d8  a",
            &EMPTY[1..],
            EMPTY,
            &format!("{EMPTY}  "),
            &format!("\\{EMPTY}  a\\x"),
            &format!("MD5 a = {EMPTY}"),
            &format!("MD5 (a) = {EMPTY}0"),
            &format!("{EMPTY}  a\0b"),
        ] {
            assert!(read(form.as_bytes()).is_err(), "{form:?}");
        }
    }

    #[test]
    fn the_algorithm_is_the_tag_the_option_or_what_the_list_is_called() {
        let line = |text: &str| read(text.as_bytes()).unwrap().unwrap();
        let of = |text: &str, asked, list| candidates(&line(text), asked, list);
        let short = "091e01de x";
        let hex64 = format!("{}  x", "0".repeat(64));
        assert_eq!(of(short, None, "list").unwrap().len(), 3);
        assert_eq!(
            of(short, None, "a/raw.CRC32C.txt"),
            Ok(vec![Algorithm::Crc32c])
        );
        assert_eq!(of(short, None, "crc32.txt"), Ok(vec![Algorithm::Crc32]));
        let adler = Some(Algorithm::Adler32);
        assert_eq!(of(short, adler, "crc32.txt"), Ok(vec![Algorithm::Adler32]));
        assert!(of(&hex64, adler, "x").unwrap_err().contains("64 digits"));
        assert_eq!(of(&hex64, None, "SHA256SUMS"), Ok(vec![Algorithm::Sha256]));
        assert_eq!(of(&hex64, None, "run7.b3"), Ok(vec![Algorithm::Blake3]));
        let both = Ok(vec![Algorithm::Blake3, Algorithm::Sha256]);
        assert_eq!(of(&hex64, None, "sums"), both);
        let tagged = format!("BLAKE2b (x) = {}", "0".repeat(128));
        assert!(of(&tagged, None, "x").unwrap_err().contains("`BLAKE2b`"));
        let untagged = format!("{}  x", "0".repeat(128));
        assert!(of(&untagged, None, "B2SUMS").is_err());
        assert!(
            of(&untagged, None, "files.b2sum")
                .unwrap_err()
                .contains("b2sum")
        );
    }

    #[test]
    fn a_foreign_checksum_is_a_word_of_its_own() {
        for list in [
            "B2SUMS",
            "a.b2sum",
            "run_blake2b.txt",
            "x/BLAKE2s-256",
            "x.sha3-256",
        ] {
            assert!(foreign(list).is_some(), "{list}");
        }
        for list in [
            "rb2summary",
            "notblake2.txt",
            "blake2021",
            "blake2/sums",
            "sha384",
        ] {
            assert_eq!(foreign(list), None, "{list}");
        }
        let line = read(format!("{}  x", "0".repeat(128)).as_bytes());
        let line = line.unwrap().unwrap();
        let of = |list| candidates(&line, None, list);
        assert_eq!(of("rb2summary"), Ok(vec![Algorithm::Sha512]));
        assert!(of("r-b2sum").unwrap_err().contains("`b2sum`"));
    }

    #[test]
    fn openssl_names_the_checksum_by_its_family() {
        let text = format!("SHA2-256(a b)= {}", "e3".repeat(32));
        let line = read(text.as_bytes()).unwrap().unwrap();
        assert_eq!(line.name, b"a b");
        assert_eq!(candidates(&line, None, "x"), Ok(vec![Algorithm::Sha256]));
    }

    #[test]
    fn lines_of_a_bag_may_end_at_either_byte() {
        let text = b"one\rtwo\r\nthree\n\rfive\r\r\nlast\r";
        for capacity in 1..9 {
            let reader = io::BufReader::with_capacity(capacity, &text[..]);
            let mut lines = Lines::of_bag(reader);
            for (number, line) in ["one", "two", "three", "", "five", "", "last"]
                .iter()
                .enumerate()
            {
                let expected = (number as u64 + 1, Some(line.as_bytes().to_vec()));
                assert_eq!(lines.next_line().unwrap(), Some(expected), "{capacity}");
            }
            assert_eq!(lines.next_line().unwrap(), None, "{capacity}");
        }
        // In a list, CR may be in a name.
        let mut lines = Lines::new(&b"a\rb\r\n"[..]);
        assert_eq!(
            lines.next_line().unwrap(),
            Some((1, Some(b"a\rb".to_vec())))
        );
    }

    #[test]
    fn the_longest_line_is_a_line() {
        for (length, is_line) in [(LINE_MAX, true), (LINE_MAX + 1, false)] {
            let text = vec![b'x'; length];
            for mut lines in [Lines::new(&text[..]), Lines::of_bag(&text[..])] {
                let (_, line) = lines.next_line().unwrap().unwrap();
                assert_eq!(line.is_some(), is_line, "{length}");
            }
        }
    }

    #[test]
    fn lines_are_cut_from_any_bytes_in_little_memory() {
        let mut text = b"\xEF\xBB\xBFone\r\n".to_vec();
        text.extend(vec![b'x'; 40 << 10]);
        text.extend(b"\n\nlast");
        let mut lines = Lines::new(io::BufReader::with_capacity(100, &text[..]));
        let mut next = || lines.next_line().unwrap();
        assert_eq!(next(), Some((1, Some(b"one".to_vec()))));
        assert_eq!(next(), Some((2, None)));
        assert_eq!(next(), Some((3, Some(Vec::new()))));
        assert_eq!(next(), Some((4, Some(b"last".to_vec()))));
        assert_eq!(next(), None);
    }
}

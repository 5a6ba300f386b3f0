//! How documents are laid out as text: the outer levels indented, the inner ones on one line.
//!
//! A document has many thousands of readings. Indented throughout, most of it would be blanks; on
//! one line, its head could not be read.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Levels that are indented: in a measure document, every reading of a stream has its own line.
const LEVELS: usize = 4;

/// `value` as text, without a line break at the end.
///
/// # Errors
/// When `value` has keys that are not strings.
pub fn to_string(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(
        &mut bytes,
        Outer::default(),
    ))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `value`, one of our own shapes, as a document: with a line break at the end.
pub fn document(value: &impl Serialize) -> String {
    let text = to_string(value);
    let mut text = text.expect("string keys and finite or null numbers always serialise");
    text.push('\n');
    text
}

/// `value`, one of our own shapes, on one line with a line break at the end.
pub fn line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    let mut text = text.expect("string keys and finite or null numbers always serialise");
    text.push('\n');
    text
}

#[derive(Default)]
struct Outer {
    depth: usize,
    filled: bool,
}

impl Outer {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let broken = self.filled && self.depth <= LEVELS;
        self.depth -= 1;
        if broken {
            self.line(writer)?;
        }
        self.filled = true;
        writer.write_all(bracket)
    }

    fn line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= LEVELS {
            self.line(writer)
        } else {
            Ok(())
        }
    }
}

impl Formatter for Outer {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let colon: &[u8] = if self.depth <= LEVELS { b": " } else { b":" };
        writer.write_all(colon)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outer_levels_have_lines_and_inner_ones_share_one() {
        let value = json!({"a": [{"b": [{"c": 1, "d": [2]}, {}]}], "e": []});
        let expected = r#"{
  "a": [
    {
      "b": [
        {"c":1,"d":[2]},
        {}
      ]
    }
  ],
  "e": []
}"#;
        assert_eq!(to_string(&value).unwrap(), expected);
    }
}

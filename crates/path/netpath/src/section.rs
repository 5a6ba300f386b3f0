//! A table of a path file, read field by field so that every complaint has its line.

use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::ParseError;

use crate::PathError;

/// The file that is being read.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Source<'_> {
    pub(crate) fn line_of(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        before.bytes().filter(|byte| *byte == b'\n').count() + 1
    }
}

/// One table and where it stands.
pub(crate) struct Section<'a> {
    source: Source<'a>,
    name: String,
    span: Range<usize>,
    table: &'a DeTable<'a>,
}

/// A value together with the place it came from, for checks that come later.
pub(crate) struct Field<'a, T> {
    pub value: T,
    source: Source<'a>,
    name: String,
    span: Range<usize>,
}

impl<'a> Section<'a> {
    pub(crate) fn new(
        source: Source<'a>,
        name: &str,
        span: Range<usize>,
        table: &'a DeTable<'a>,
    ) -> Self {
        Section {
            source,
            name: name.to_owned(),
            span,
            table,
        }
    }

    /// Refuses every key that is not in `known`.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), PathError> {
        let unknown = self
            .table
            .keys()
            .find(|key| !known.contains(&key.get_ref().as_ref()));
        match unknown {
            None => Ok(()),
            Some(key) => Err(self.complain(
                key.get_ref(),
                &key.span(),
                format!("`{}` is not a field of {}", key.get_ref(), self.describe()),
                format!("known here: {}", known.join(", ")),
            )),
        }
    }

    /// A table inside this one.
    pub(crate) fn section(&self, key: &str) -> Result<Option<Section<'a>>, PathError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Section::new(
                self.source,
                &self.path_to(key),
                value.span(),
                table,
            ))),
            other => Err(self.wrong_type(key, value, other, "a table")),
        }
    }

    /// A table that has to be there.
    pub(crate) fn required_section(&self, key: &str, hint: &str) -> Result<Section<'a>, PathError> {
        self.section(key)?.ok_or_else(|| self.missing(key, hint))
    }

    /// The tables of an array: `[[cross]]`.
    pub(crate) fn sections(&self, key: &str) -> Result<Vec<Section<'a>>, PathError> {
        let Some(value) = self.table.get(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.wrong_type(key, value, value.get_ref(), "an array of tables"));
        };
        let name = self.path_to(key);
        let section = |item: &'a Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Ok(Section::new(self.source, &name, item.span(), table)),
            other => Err(self.wrong_type(key, item, other, "a table")),
        };
        array.iter().map(section).collect()
    }

    /// A quantity or name written as a string.
    pub(crate) fn text(&self, key: &str) -> Result<Option<Field<'a, &'a str>>, PathError> {
        self.read(key, "a string in quotes", |value| value.as_str())
    }

    /// A quantity that `units` reads.
    pub(crate) fn quantity<T: FromStr<Err = ParseError>>(
        &self,
        key: &str,
    ) -> Result<Option<Field<'a, T>>, PathError> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        match text.value.parse() {
            Ok(_) if is_bare(text.value) => Err(text.refuse(
                format!("`{}` has no unit", text.value),
                "write bytes like `64KiB` or `500B`".to_owned(),
            )),
            Ok(value) => Ok(Some(text.with(value))),
            Err(error) => {
                let ParseError {
                    text: written,
                    kind,
                    problem,
                    example,
                } = error;
                Err(text.refuse(
                    format!("`{written}` is not {kind}: {problem}"),
                    format!("write it like {example}"),
                ))
            }
        }
    }

    /// A quantity that has to be there.
    pub(crate) fn required<T: FromStr<Err = ParseError>>(
        &self,
        key: &str,
        hint: &str,
    ) -> Result<Field<'a, T>, PathError> {
        self.quantity(key)?.ok_or_else(|| self.missing(key, hint))
    }

    /// A whole number.
    pub(crate) fn integer(&self, key: &str) -> Result<Option<Field<'a, i64>>, PathError> {
        self.read(key, "a whole number", whole)
    }

    /// A number, whole or not.
    pub(crate) fn number(&self, key: &str) -> Result<Option<Field<'a, f64>>, PathError> {
        self.read(key, "a number", |value| match value {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(_) => Some(whole(value)? as f64),
            _ => None,
        })
    }

    /// A probability between 0 and 1.
    pub(crate) fn probability(&self, key: &str) -> Result<Option<Field<'a, f64>>, PathError> {
        let percent = self.table.get(key).and_then(|value| {
            let text = value.get_ref().as_str()?;
            Some((text, value.span(), text.trim().strip_suffix('%')?))
        });
        if let Some((text, span, number)) = percent {
            let share = number.trim().parse::<f64>().map(|percent| percent / 100.0);
            let hint = share.map_or("write 1 % as 0.01".to_owned(), |share| {
                format!("write it as {share}, without quotes")
            });
            let problem =
                format!("`{text}` is a percentage, and a probability between 0 and 1 is wanted");
            return Err(self.complain(key, &span, problem, hint));
        }
        match self.number(key)? {
            Some(field) if !(0.0..=1.0).contains(&field.value) => Err(field.refuse(
                format!("a probability of {} is not between 0 and 1", field.value),
                "write 1 % as 0.01".to_owned(),
            )),
            number => Ok(number),
        }
    }

    /// Yes or no.
    pub(crate) fn boolean(&self, key: &str) -> Result<Option<bool>, PathError> {
        let field = self.read(key, "true or false", DeValue::as_bool)?;
        Ok(field.map(|field| field.value))
    }

    /// Whether a field is written.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Whether a field is written as a table.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        let value = self.table.get(key);
        value.is_some_and(|value| matches!(value.get_ref(), DeValue::Table(_)))
    }

    /// Whether a field is written as an array.
    pub(crate) fn is_array(&self, key: &str) -> bool {
        let value = self.table.get(key);
        value.is_some_and(|value| matches!(value.get_ref(), DeValue::Array(_)))
    }

    /// Refuses a field, written or not, for what it means together with others.
    pub(crate) fn refuse(&self, key: &str, problem: String, hint: &str) -> PathError {
        let value = self.table.get(key);
        let span = value.map_or_else(|| self.span.clone(), Spanned::span);
        self.complain(key, &span, problem, hint.to_owned())
    }

    /// Refuses the whole table.
    pub(crate) fn refuse_whole(&self, problem: String, hint: &str) -> PathError {
        PathError::Field {
            file: self.source.file.to_owned(),
            line: self.source.line_of(&self.span),
            field: self.name.clone(),
            problem,
            hint: hint.to_owned(),
        }
    }

    /// Complains that a field is not there.
    pub(crate) fn missing(&self, key: &str, hint: &str) -> PathError {
        let problem = format!("`{key}` is missing from {}", self.describe());
        self.complain(key, &self.span, problem, hint.to_owned())
    }

    fn read<T>(
        &self,
        key: &str,
        wanted: &str,
        convert: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Field<'a, T>>, PathError> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        match convert(value.get_ref()) {
            Some(converted) => Ok(Some(Field {
                value: converted,
                source: self.source,
                name: self.path_to(key),
                span: value.span(),
            })),
            None => Err(self.wrong_type(key, value, value.get_ref(), wanted)),
        }
    }

    fn wrong_type(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        found: &DeValue<'_>,
        wanted: &str,
    ) -> PathError {
        let written = self.source.text.get(value.span()).unwrap_or("");
        self.complain(
            key,
            &value.span(),
            format!("`{written}` is {}", with_article(found.type_str())),
            format!("`{key}` takes {wanted}"),
        )
    }

    fn complain(&self, key: &str, span: &Range<usize>, problem: String, hint: String) -> PathError {
        PathError::Field {
            file: self.source.file.to_owned(),
            line: self.source.line_of(span),
            field: self.path_to(key),
            problem,
            hint,
        }
    }

    fn describe(&self) -> String {
        match self.name.as_str() {
            "" => "a path".to_owned(),
            name => format!("`{name}`"),
        }
    }

    fn path_to(&self, key: &str) -> String {
        match self.name.as_str() {
            "" => key.to_owned(),
            name => format!("{name}.{key}"),
        }
    }
}

/// Whether it is a number alone. Rates and times have no reading without a unit; sizes have one,
/// and what is meant by it may be packets or kilobytes.
fn is_bare(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok()
}

fn whole(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn with_article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

impl<'a, T> Field<'a, T> {
    /// The same place with another value.
    pub(crate) fn with<U>(&self, value: U) -> Field<'a, U> {
        Field {
            value,
            source: self.source,
            name: self.name.clone(),
            span: self.span.clone(),
        }
    }

    /// Refuses the value.
    pub(crate) fn refuse(&self, problem: String, hint: String) -> PathError {
        let line = self.source.line_of(&self.span);
        self.refuse_at(self.source.file, line, problem, hint)
    }

    /// Refuses a line of a file that the value names.
    pub(crate) fn refuse_at(
        &self,
        file: &str,
        line: usize,
        problem: String,
        hint: String,
    ) -> PathError {
        PathError::Field {
            file: file.to_owned(),
            line,
            field: self.name.clone(),
            problem,
            hint,
        }
    }

    /// The file that the value stands in.
    pub(crate) fn file(&self) -> &'a str {
        self.source.file
    }
}

//! TOML and JSON as one tree whose nodes know their lines.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Mistake;

/// A value and its line, from 1.
pub(crate) struct Node {
    pub line: usize,
    pub value: Value,
}

pub(crate) enum Value {
    Text(String),
    Number(f64),
    Boolean(bool),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// What neither plans nor psconfig use, by its name: a date, null.
    Other(&'static str),
}

/// A key, its line and its value. JSON may say a key twice; both entries are kept.
pub(crate) struct Entry {
    pub key: String,
    pub line: usize,
    pub node: Node,
}

impl Node {
    /// The kind of value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}

/// Where each line of a text begins.
struct Lines {
    ends: Vec<usize>,
    /// Lines of the files before it.
    before: usize,
}

impl Lines {
    fn of(text: &str, before: usize) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let ends = ends.map(|(at, _)| at).collect();
        Lines { ends, before }
    }

    fn at(&self, offset: usize) -> usize {
        self.before + self.ends.partition_point(|end| *end < offset) + 1
    }
}

/// Reads TOML; `layout` says what the file looks like, where it is none.
pub(crate) fn toml(text: &str, layout: &str) -> Result<Node, Mistake> {
    let lines = Lines::of(text, 0);
    let table = DeTable::parse(text).map_err(|error| {
        let line = lines.at(error.span().map_or(0, |span| span.start));
        let (problem, hint) = match error.message() {
            "duplicate key" => (
                "what begins here is written twice".to_owned(),
                "keep one of them, or give one another name",
            ),
            other => (format!("this is no TOML: {other}"), layout),
        };
        syntax(line, problem, hint)
    })?;
    let value = toml_table(table.get_ref(), &lines);
    Ok(Node { line: 1, value })
}

fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Value {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<std::borrow::Cow<'_, str>> = key;
        Entry {
            key: key.get_ref().to_string(),
            line: lines.at(key.span().start),
            node: toml_node(value, lines),
        }
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.line);
    Value::Table(entries)
}

fn toml_node(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let line = lines.at(value.span().start);
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(whole) => {
            let number = i64::from_str_radix(whole.as_str(), whole.radix());
            number.map_or(Value::Other("a number too large"), |number| {
                Value::Number(number as f64)
            })
        }
        DeValue::Float(float) => number(float.as_str()),
        DeValue::Boolean(yes) => Value::Boolean(*yes),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| toml_node(item, lines)).collect())
        }
        DeValue::Table(table) => toml_table(table, lines),
    };
    Node { line, value }
}

fn number(text: &str) -> Value {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map_or(Value::Other("no finite number"), Value::Number)
}

/// Reads JSON. serde_json judges the text, with its bound on nesting; the second reading, which
/// keeps places, has no such bound of its own.
///
/// * `before`: the lines of the files before it.
pub(crate) fn json(text: &str, before: usize) -> Result<Node, Mistake> {
    let refuse = |line, problem| {
        let hint = "psconfig is one JSON object; `psconfig validate` of perfSONAR shows the place";
        syntax(line, problem, hint)
    };
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| {
        refuse(
            before + error.line().max(1),
            format!("this is no JSON: {error}"),
        )
    })?;
    let nested = nesting(text);
    if nested > NESTING {
        let problem = format!("values are nested {nested} deep; {NESTING} is the most");
        return Err(refuse(before + 1, problem));
    }
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let lines = Lines::of(text, before);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict);
    let parsed = parsed.map_err(|error| {
        let line = lines.at(error.range().start);
        refuse(line, format!("this is no JSON: {}", error.kind()))
    })?;
    let root = parsed.value.as_ref();
    let root = root.ok_or_else(|| refuse(before + 1, "the file is empty".to_owned()))?;
    Ok(json_node(root, &lines))
}

/// No psconfig file needs more; each level costs stack.
const NESTING: usize = 64;

/// How deep brackets outside strings are nested, in a text that is JSON.
fn nesting(text: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn json_node(value: &ast::Value<'_>, lines: &Lines) -> Node {
    let line = lines.at(value.range().start);
    let value = match value {
        ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
        ast::Value::NumberLit(written) => number(written.value),
        ast::Value::BooleanLit(yes) => Value::Boolean(yes.value),
        ast::Value::NullKeyword(_) => Value::Other("null"),
        ast::Value::Array(array) => {
            let items = array.elements.iter().map(|item| json_node(item, lines));
            Value::List(items.collect())
        }
        ast::Value::Object(object) => {
            let entry = |property: &ast::ObjectProp<'_>| Entry {
                key: property.name.as_str().to_owned(),
                line: lines.at(property.range.start),
                node: json_node(&property.value, lines),
            };
            Value::Table(object.properties.iter().map(entry).collect())
        }
    };
    Node { line, value }
}

fn syntax(line: usize, problem: String, hint: &str) -> Mistake {
    Mistake {
        file: String::new(),
        line,
        field: String::new(),
        problem,
        hint: hint.to_owned(),
    }
}

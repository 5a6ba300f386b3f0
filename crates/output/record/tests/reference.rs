//! The schema of all documents and the page about their keys: made from the types and their
//! comments, and compared with what is kept in `docs/reference`.
//! `BLESS=1 cargo test -p trunkline-record --test reference` writes both anew.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use archive::{Comparison, Listing};
use record::copy::CopyEvent;
use record::{
    Body, Campaign, Characteristics, Copy, Datagrams, Demo, Document, Emulation, Fit,
    FluidSimulation, Measure, Predict, Responsiveness, Simulate, Sweep, SweepComparison, Tune,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// What a type's name leads to in a schema.
const DEFINITIONS: &str = "#/$defs/";

/// Where the generated part of the page begins.
const MARK: &str =
    "<!-- Made by crates/output/record/tests/reference.rs from the comments of the types. -->\n";

/// Words that fit into the cell of the key that they are a value of.
const WORDS_IN_A_CELL: usize = 6;

#[test]
fn the_schema_is_that_of_the_types() {
    compare("schema.json", &schema_text(&schema()));
}

#[test]
fn the_page_says_what_the_types_say() {
    let page = fs::read_to_string(kept("json.md")).unwrap();
    let (by_hand, _) = page.split_once(MARK).expect("json.md has no mark");
    compare("json.md", &format!("{by_hand}{MARK}{}", Page::new().text()));
}

fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference");
    folder.join(name)
}

fn compare(name: &str, now: &str) {
    if env::var_os("BLESS").is_some() {
        fs::write(kept(name), now).unwrap();
    }
    let before = fs::read_to_string(kept(name)).unwrap_or_default();
    let differs = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(
        before == now,
        "docs/reference/{name} is not that of the types; first difference: {differs:?}. \
         If documents were meant to change: BLESS=1 cargo test -p trunkline-record --test reference"
    );
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

/// The definition of `T`, with those of all its parts in `generator`.
fn definition<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// The document that holds `B`, with its one name as `schema`.
fn document<B: Body + JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let reference = definition::<Document<B>>(generator);
    let name = name_of(&reference).unwrap().to_owned();
    let own = &mut generator.definitions_mut()[&name]["properties"]["schema"];
    *own = json!({ "const": B::SCHEMA.name() });
    reference
}

/// The schema of all documents that a file can hold.
fn schema() -> Value {
    let mut generator = generator();
    let documents = [
        document::<Measure>,
        document::<Tune>,
        document::<Demo>,
        document::<Emulation>,
        document::<Simulate>,
        document::<Campaign>,
        document::<FluidSimulation>,
        document::<Predict>,
        document::<Fit>,
        document::<Sweep>,
        document::<Characteristics>,
        document::<Responsiveness>,
        document::<Datagrams>,
        document::<Copy>,
    ];
    let documents = documents.map(|document| document(&mut generator));
    let mut definitions = Value::Object(generator.take_definitions(true));
    leave_out_null(&mut definitions);
    join_lines(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Documents of trunkline",
        "oneOf": documents,
        "$defs": definitions,
    })
}

/// What is not known is absent: no key of a document is `null`.
fn leave_out_null(value: &mut Value) {
    let is_null = |value: &Value| *value == "null" || value["type"] == "null";
    match value {
        Value::Array(list) => list.iter_mut().for_each(leave_out_null),
        Value::Object(map) => {
            for key in ["type", "anyOf"] {
                let Some(Value::Array(list)) = map.get_mut(key) else {
                    continue;
                };
                list.retain(|value| !is_null(value));
                if let [only] = list.as_slice() {
                    let only = only.clone();
                    map.remove(key);
                    match only {
                        Value::Object(only) => map.extend(only),
                        word => drop(map.insert(key.to_owned(), word)),
                    }
                }
            }
            map.values_mut().for_each(leave_out_null);
        }
        _ => {}
    }
}

/// Comments without line breaks inside paragraphs: wrapping one anew changes no schema.
fn join_lines(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(join_lines),
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                let paragraphs = text.split("\n\n").map(|part| part.replace('\n', " "));
                *text = paragraphs.collect::<Vec<_>>().join("\n\n");
            }
            map.values_mut().for_each(join_lines);
        }
        _ => {}
    }
}

/// One line for each key of each definition.
fn schema_text(schema: &Value) -> String {
    let mut text = String::new();
    write_indented(&mut text, schema, 0);
    text.push('\n');
    text
}

fn write_indented(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) if depth < 4 && !map.is_empty() => {
            text.push('{');
            for (index, (key, value)) in map.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                let indent = "  ".repeat(depth + 1);
                write!(text, "{comma}\n{indent}\"{key}\": ").unwrap();
                write_indented(text, value, depth + 1);
            }
            write!(text, "\n{}}}", "  ".repeat(depth)).unwrap();
        }
        value => text.push_str(&value.to_string()),
    }
}

/// The name of the definition that `schema` refers to.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix(DEFINITIONS)
}

/// The page about all keys.
struct Page {
    /// Heading and schema of each section.
    sections: Vec<(String, Value)>,
    definitions: Map<String, Value>,
    /// Definitions that several keys lead to: each has a section of its own.
    shared: BTreeSet<String>,
}

/// A key with what it says.
struct Row {
    key: String,
    meaning: String,
}

impl Page {
    fn new() -> Self {
        let mut generator = generator();
        let envelope = definition::<Document<Measure>>(&mut generator);
        let mut sections = vec![
            section::<Measure>(&mut generator),
            section::<Tune>(&mut generator),
            section::<Demo>(&mut generator),
            section::<Emulation>(&mut generator),
            section::<Simulate>(&mut generator),
            section::<Campaign>(&mut generator),
            section::<FluidSimulation>(&mut generator),
            section::<Predict>(&mut generator),
            section::<Fit>(&mut generator),
            section::<Sweep>(&mut generator),
            section::<Characteristics>(&mut generator),
            section::<Responsiveness>(&mut generator),
            section::<Datagrams>(&mut generator),
            section::<Copy>(&mut generator),
        ];
        let mut other = |heading: &str, schema| sections.push((heading.to_owned(), schema));
        other("Events of a copy", definition::<CopyEvent>(&mut generator));
        other("history", definition::<Listing<'_>>(&mut generator));
        other(
            "history --compare",
            definition::<Comparison>(&mut generator),
        );
        other(
            "Two sweeps compared",
            definition::<SweepComparison>(&mut generator),
        );
        let mut definitions = Value::Object(generator.take_definitions(true));
        leave_out_null(&mut definitions);
        let Value::Object(mut definitions) = definitions else {
            unreachable!("definitions are an object");
        };
        let body = &definitions[name_of(&sections[0].1).unwrap()]["properties"];
        let is_of_body: BTreeSet<String> = body.as_object().unwrap().keys().cloned().collect();
        let mut head = definitions.remove(name_of(&envelope).unwrap()).unwrap();
        let keys = head["properties"].as_object_mut().unwrap();
        keys.retain(|key, _| !is_of_body.contains(key));
        sections.insert(0, ("Every document".to_owned(), head));
        let shared = shared(&sections, &definitions);
        Page {
            sections,
            definitions,
            shared,
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (heading, schema) in &self.sections {
            self.section(&mut text, "##", heading, self.resolved(schema));
        }
        text.push_str("\n## Parts\n\nWhat several keys hold.\n");
        for name in &self.shared {
            self.section(&mut text, "###", name, &self.definitions[name]);
        }
        text
    }

    fn section(&self, text: &mut String, level: &str, heading: &str, schema: &Value) {
        write!(text, "\n{level} {heading}\n\n").unwrap();
        let about = description(schema);
        if !about.is_empty() {
            write!(text, "{about}.\n\n").unwrap();
        }
        let words = words(schema);
        let (first, rows) = match words.is_empty() {
            true => ("Key", self.rows(schema)),
            false => ("Word", words),
        };
        write!(text, "| {first} | Meaning |\n|---|---|\n").unwrap();
        for row in rows {
            writeln!(text, "| `{}` | {} |", row.key, row.meaning).unwrap();
        }
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match name_of(schema) {
            Some(name) => self.resolved(&self.definitions[name]),
            None => schema,
        }
    }

    fn rows(&self, schema: &Value) -> Vec<Row> {
        let mut rows = Vec::new();
        self.keys(&mut rows, schema, "", "");
        rows
    }

    /// The keys of `schema` below `path`; `of` says for which kind of it they are there.
    fn keys(&self, rows: &mut Vec<Row>, schema: &Value, path: &str, of: &str) {
        let schema = self.resolved(schema);
        let required = schema["required"].as_array();
        let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|k| k == key));
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            if value.get("const").is_none() || of.is_empty() {
                self.key(rows, value, &format!("{path}{key}"), of, is_required(key));
            }
        }
        for kind in kinds(schema) {
            self.kind(rows, kind, path, of);
        }
    }

    /// The keys of one of several shapes, after the word that names it where there is one.
    fn kind(&self, rows: &mut Vec<Row>, kind: &Value, path: &str, of: &str) {
        let named = [kind, self.resolved(kind)].into_iter().find_map(tag);
        let Some((tag, word)) = named else {
            return self.keys(rows, kind, path, of);
        };
        rows.push(Row {
            key: format!("{path}{tag}"),
            meaning: format!("`{word}`: {}", description(kind)),
        });
        self.keys(rows, kind, path, &format!("Of `{word}`: "));
    }

    fn key(&self, rows: &mut Vec<Row>, value: &Value, key: &str, of: &str, required: bool) {
        let (mut key, mut held) = (key.to_owned(), value);
        while let Some(items) = self.resolved(held).get("items") {
            (key, held) = (format!("{key}[]"), items);
        }
        let name = name_of(held);
        let schema = self.resolved(held);
        let own = description(value);
        let mut meaning = match own.is_empty() {
            true => description(schema),
            false => own,
        };
        let link = name.filter(|name| self.shared.contains(*name));
        let words = words(schema);
        if !words.is_empty() && (words.len() <= WORDS_IN_A_CELL || link.is_none()) {
            let named: Vec<String> = words.iter().map(|word| format!("`{}`", word.key)).collect();
            write!(meaning, ": {}", named.join(", ")).unwrap();
        }
        if let Some(name) = link {
            write!(meaning, ": [{name}](#{})", name.to_lowercase()).unwrap();
        }
        let is_told = required || meaning.contains("absent");
        let optional = if is_told { "" } else { "; optional" };
        rows.push(Row {
            key: key.clone(),
            meaning: format!("{of}{meaning}{optional}"),
        });
        if link.is_none() && words.is_empty() {
            self.keys(rows, schema, &format!("{key}."), "");
        }
    }
}

fn section<B: Body + JsonSchema>(generator: &mut SchemaGenerator) -> (String, Value) {
    (B::SCHEMA.kind().to_owned(), definition::<B>(generator))
}

/// The key that names a shape, with its word.
fn tag(kind: &Value) -> Option<(&str, &str)> {
    let keys = kind["properties"].as_object()?.iter();
    let mut words = keys.filter_map(|(key, value)| Some((key.as_str(), value["const"].as_str()?)));
    words.next()
}

/// The names that more than one place refers to.
fn shared(sections: &[(String, Value)], definitions: &Map<String, Value>) -> BTreeSet<String> {
    let mut uses = BTreeMap::new();
    for (_, schema) in sections {
        count(schema, &mut uses);
    }
    definitions
        .values()
        .for_each(|schema| count(schema, &mut uses));
    let several = uses.into_iter().filter(|(_, uses)| *uses > 1);
    several.map(|(name, _)| name).collect()
}

fn count(schema: &Value, uses: &mut BTreeMap<String, usize>) {
    if let Some(name) = name_of(schema) {
        *uses.entry(name.to_owned()).or_default() += 1;
    }
    match schema {
        Value::Array(list) => list.iter().for_each(|value| count(value, uses)),
        Value::Object(map) => map.values().for_each(|value| count(value, uses)),
        _ => {}
    }
}

/// The shapes of which a value has one.
fn kinds(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf"].map(|key| schema[key].as_array());
    let kinds = lists.into_iter().flatten().flatten();
    kinds.filter(|kind| kind.get("properties").is_some() || kind.get("$ref").is_some())
}

/// The words of which a value is one.
fn words(schema: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    let one_of = schema["oneOf"].as_array().into_iter().flatten();
    for kind in one_of.chain([schema]) {
        let listed = kind["enum"].as_array().into_iter().flatten();
        let only = kind.get("const");
        for word in listed.chain(only).filter_map(Value::as_str) {
            rows.push(Row {
                key: word.to_owned(),
                meaning: description(kind),
            });
        }
    }
    rows
}

/// The first paragraph of a comment, without the full stop, links into code and their word for what
/// is absent.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let line = first.replace('\n', " ").replace('|', "\\|");
    let line = line
        .replace("[`", "`")
        .replace("`]", "`")
        .replace("`None`", "absent");
    line.trim_end_matches('.').to_owned()
}

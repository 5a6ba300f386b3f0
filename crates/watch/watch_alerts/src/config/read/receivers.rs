//! Who is told.

use std::path::Path;

use watch_plan::section::{Field, Findings, Section, parse};

use super::first;
use crate::config::{Address, Alertmanager, Header, Mail, Place, Receivers, Secret, Url, Webhook};

pub(super) fn receivers(root: &Section, folder: &Path, found: &mut Findings) -> Receivers {
    let tables = ["webhook", "mail", "alertmanager"];
    let [webhooks, mails, managers] = tables.map(|key| root.sections(key, found));
    if webhooks.is_empty() && mails.is_empty() && managers.is_empty() {
        let problem = "the file has no receiver of alerts".to_owned();
        let hint = "add `[[webhook]]`, `[[mail]]` or `[[alertmanager]]`";
        found.refuse(&root.place, problem, hint);
    }
    let webhooks = webhooks
        .iter()
        .filter_map(|one| webhook(one, folder, found))
        .collect();
    let mails = mails.iter().filter_map(|one| mail(one, found)).collect();
    let managers = managers
        .iter()
        .filter_map(|one| alertmanager(one, folder, found));
    Receivers {
        webhooks,
        mails,
        alertmanagers: managers.collect(),
    }
}

fn webhook(section: &Section, folder: &Path, found: &mut Findings) -> Option<Webhook> {
    section.only(&["url", "url_secret", "header"], found);
    let header = header(section, folder, found);
    let url = match section.has("url_secret") {
        false => {
            let url = section.parsed::<Url>("url", found);
            let hint = "write `url = \"https://...\"`, or `url_secret = { file = \"...\" }`";
            Place::Url(section.required("url", url, hint, found)?.value)
        }
        true => {
            if section.has("url") {
                let problem = "both `url` and `url_secret` are written".to_owned();
                found.refuse(&section.at("url"), problem, "keep one of them");
            }
            let inner = section.section("url_secret", found)?;
            inner.only(&["file", "env"], found);
            Place::Secret(secret(&inner, folder, found)?)
        }
    };
    Some(Webhook {
        url,
        header: header?,
    })
}

fn alertmanager(section: &Section, folder: &Path, found: &mut Findings) -> Option<Alertmanager> {
    section.only(&["url", "header"], found);
    let header = header(section, folder, found);
    let url = section.parsed::<Url>("url", found);
    let hint = "write `url = \"http://localhost:9093\"`";
    Some(Alertmanager {
        url: section.required("url", url, hint, found)?.value,
        header: header?,
    })
}

/// The header, where there is one; the outer `None` for a mistake.
fn header(section: &Section, folder: &Path, found: &mut Findings) -> Option<Option<Header>> {
    if !section.has("header") {
        return Some(None);
    }
    let section = section.section("header", found)?;
    section.only(&["name", "file", "env"], found);
    let value = secret(&section, folder, found);
    let name = section.text("name", found);
    let name = section.required("name", name, "write `name = \"Authorization\"`", found)?;
    if ureq::http::HeaderName::from_bytes(name.value.as_bytes()).is_err() {
        let problem = format!("{:?} is no name of a header", first(name.value));
        found.refuse(&name.place, problem, "write `name = \"Authorization\"`");
        return None;
    }
    Some(Some(Header {
        name: name.value.to_owned(),
        value: value?,
    }))
}

fn secret(section: &Section, folder: &Path, found: &mut Findings) -> Option<Secret> {
    match (section.has("file"), section.has("env")) {
        (true, false) => {
            let file = section.text("file", found)?;
            Some(Secret::File(folder.join(file.value)))
        }
        (false, true) => {
            let name = section.text("env", found)?;
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.value.is_empty() || !name.value.chars().all(word) {
                let problem = "this is no name of an environment variable".to_owned();
                found.refuse(
                    &name.place,
                    problem,
                    "write its name, not the secret itself",
                );
                return None;
            }
            Some(Secret::Environment(name.value.to_owned()))
        }
        (both, _) => {
            let which = if both { "both" } else { "neither" };
            let problem = format!("`{}` has {which} of `file` and `env`", section.place.field);
            let hint = "write one: `file = \"secrets/token\"` or `env = \"TOKEN\"`";
            found.refuse(&section.place, problem, hint);
            None
        }
    }
}

fn mail(section: &Section, found: &mut Findings) -> Option<Mail> {
    section.only(&["command", "to", "from"], found);
    let command = texts(
        section,
        "command",
        "write `command = [\"sendmail\", \"-t\"]`",
        found,
    );
    let hint = "write `to = [\"noc@example.org\"]`";
    let to = texts(section, "to", hint, found);
    let from = section.parsed::<Address>("from", found);
    let from = section.required("from", from, "write `from = \"watch@example.org\"`", found);
    let to = to.map(|to| {
        to.iter()
            .map(|one| parse(one.value, &one.place, found))
            .collect()
    });
    let mut words = command?.into_iter().map(|word| word.value.to_owned());
    Some(Mail {
        program: words.next()?,
        arguments: words.collect(),
        to: to.and_then(|to: Option<Vec<Address>>| to)?,
        from: from?.value,
    })
}

/// A list of one text or more.
fn texts<'t>(
    section: &Section<'t>,
    key: &str,
    hint: &str,
    found: &mut Findings,
) -> Option<Vec<Field<&'t str>>> {
    let texts = section.texts(key, found);
    let texts = section.required(key, texts, hint, found)?;
    if texts.is_empty() || texts.iter().any(|text| text.value.contains('\0')) {
        let problem = format!("`{key}` is empty or has a zero byte");
        found.refuse(&section.at(key), problem, hint);
        return None;
    }
    Some(texts)
}

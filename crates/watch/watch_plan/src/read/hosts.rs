//! The hosts of a plan.

use std::collections::BTreeMap;

use units::{Padding, Rate, ServerUser, Source};

use super::HOSTS_MAX;
use crate::model::{Host, HostLogin, TokenFile};
use crate::names::{HostName, MachineName};
use crate::section::{Field, Findings, Section, parse};

const KEYS: [&str; 10] = [
    "address",
    "machine",
    "link",
    "bind",
    "token",
    "agent",
    "user",
    "user_key",
    "user_padding",
    "password_file",
];

pub(super) fn hosts(root: &Section, found: &mut Findings) -> BTreeMap<HostName, Host> {
    let mut hosts = BTreeMap::new();
    let named = root.named("hosts", found);
    if named.is_empty() {
        let hint = "write `[hosts.NAME]` with `address = \"...\"`, two or more";
        found.refuse(&root.at("hosts"), "the plan has no hosts".to_owned(), hint);
    }
    if named.len() > HOSTS_MAX {
        let problem = format!("{} hosts are above {HOSTS_MAX}", named.len());
        found.refuse(&root.at("hosts"), problem, "make two plans");
    }
    for (name, section) in named {
        section.only(&KEYS, found);
        let name = parse::<HostName>(name, &section.place, found);
        let host = host(&section, name.as_ref(), found);
        if let Some(name) = name {
            hosts.insert(name, host);
        }
    }
    hosts
}

fn host(section: &Section, name: Option<&HostName>, found: &mut Findings) -> Host {
    let address = section.text("address", found);
    let address = section.required("address", address, "write where it is reached", found);
    let address = address.and_then(|address| one_word(address, found));
    let machine = section.parsed::<MachineName>("machine", found);
    let own = || name.map(MachineName::of);
    let machine = machine.map(|machine| machine.value).or_else(own);
    let link = section.parsed::<Rate>("link", found);
    if let Some(link) = link.as_ref().filter(|link| link.value < LINK_MIN) {
        let problem = format!("a link of {} is below {LINK_MIN}", link.value);
        found.refuse(&link.place, problem, "write it like `10Gbit/s`");
    }
    let bind = section.parsed::<Source>("bind", found);
    let token = section.text("token", found);
    let token = token.and_then(|token| one_word(token, found));
    Host {
        address: address.unwrap_or_default(),
        machine: machine.unwrap_or_else(MachineName::unknown),
        link: link.map(|link| link.value),
        bind: bind.map(|bind| bind.value),
        token: token.map(TokenFile),
        agent: section.boolean("agent", found) != Some(false),
        login: login(section, found),
    }
}

/// Who agents are to the host's server: a name and a key, or neither.
fn login(section: &Section, found: &mut Findings) -> Option<HostLogin> {
    let mut word = |key| {
        let text = section.text(key, found)?;
        one_word(text, found)
    };
    let (name, key) = (word("user"), word("user_key"));
    let password_file = word("password_file");
    let padding = section.parsed::<Padding>("user_padding", found);
    for key in ["user_key", "user_padding", "password_file"] {
        if section.has(key) && !section.has("user") {
            let problem = format!("`{key}` goes with a `user`, and there is none");
            found.refuse(&section.at(key), problem, "write `user` too, or remove it");
        }
    }
    if section.has("user") {
        let hint = "name the file with the server's public key: `user_key = \"public.pem\"`";
        section.required("user_key", key.as_ref(), hint, found);
    }
    Some(HostLogin {
        user: ServerUser {
            name: name?,
            key: key?,
            padding: padding.map_or(Padding::default(), |padding| padding.value),
        },
        password_file,
    })
}

/// Slower links carry no test of goodput.
const LINK_MIN: Rate = Rate::from_bits_per_second(1_000);

/// A text that is not empty and has neither spaces nor control characters.
pub(crate) fn one_word(text: Field<&str>, found: &mut Findings) -> Option<String> {
    let value = text.value;
    let odd = |c: char| c.is_whitespace() || c.is_control();
    if value.is_empty() || value.len() > 4096 || value.contains(odd) {
        let shown: String = value.chars().take(60).collect();
        let problem = format!("{shown:?} is empty, too long, or has a space in it");
        found.refuse(
            &text.place,
            problem,
            "write 1 to 4096 characters without spaces",
        );
        return None;
    }
    Some(value.to_owned())
}

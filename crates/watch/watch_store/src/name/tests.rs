use super::*;

#[test]
fn a_url_is_postgresql_and_its_password_is_not_printed() {
    let name: DatabaseName = "postgres://me:secr@et@db.example/watch?password=secret"
        .parse()
        .unwrap();
    assert_eq!(name.to_string(), "postgres://db.example/watch");
    assert_eq!(format!("{name:?}"), "postgres://db.example/watch");
    let file: DatabaseName = "watch.sqlite".parse().unwrap();
    assert_eq!(file, DatabaseName::Sqlite("watch.sqlite".into()));
    let other = "mysql://db/watch".parse::<DatabaseName>().unwrap_err();
    assert!(
        other.to_string().starts_with("`mysql://` is no database"),
        "{other}"
    );
}

#[test]
fn names_are_neither_empty_nor_long_nor_garbled() {
    assert_eq!("".parse::<Name>(), Err(NameError::Empty));
    assert_eq!("a".repeat(254).parse::<Name>(), Err(NameError::Long(254)));
    for text in ["a\0b", "a\u{1b}[2J", "a\nb"] {
        assert!(matches!(text.parse::<Name>(), Err(NameError::Control(_))));
    }
    assert!(serde_json::from_str::<Name>("\"\"").is_err());
}

proptest::proptest! {
    /// Else a host or a task of a plan would be stored under a name that cannot be read back.
    #[test]
    fn names_of_plans_are_names(text in ".{0,300}|[a-zA-Z0-9.:_-]{1,260}") {
        if let Ok(host) = text.parse::<watch_plan::HostName>() {
            let name = Name::from(&host);
            proptest::prop_assert_eq!(Ok(name), text.parse::<Name>());
        }
    }
}

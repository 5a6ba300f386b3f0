use watch_plan::PlanError;

use super::*;

fn checks() -> Checks {
    Checks {
        address: |text| match text.contains(' ') {
            true => Err(("has a space".to_owned(), "write none".to_owned())),
            false => Ok(()),
        },
        pattern: |text| match text {
            "[a" => Err("pattern `[a`: unclosed".to_owned()),
            _ => Ok(()),
        },
        moment: |text| (text == "2026-12-01T18:00:00Z").then_some(1_796_148_000),
    }
}

fn parsed(text: &str) -> Result<Campaign, PlanError> {
    Campaign::parse(text, "plan.toml", &checks()).map(|(plan, _)| plan)
}

const HOSTS: &str = "[hosts]\ncern = { address = \"dtn.cern.ch\" }\nslac = { address = \"s\" }\n";

#[test]
fn a_plan_says_where_files_go_and_within_which_bounds() {
    let text = format!(
        "{HOSTS}[shards]\nfiles = 10\nbytes = \"1GB\"\nparts = \"1GiB\"\n\
        [links.wan]\nrate = \"1Gbit/s\"\ncopies = 4\nstreams = 32\ngentle = \"5ms\"\n\
        quiet = [\"Mon-Fri 08:00-18:00\"]\n\
        [groups.raw]\nfrom = \"slac:/data//raw/\"\nto = \"cern:store\"\nlink = \"wan\"\n\
        include = [\"a.tmp\"]\nexclude = [\"*.tmp\"]\nafter = [\"cal\"]\npriority = 9\n\
        deadline = \"2026-12-01T18:00:00Z\"\n\
        [groups.cal]\nfrom = \"/cal\"\nto = \"cern:/cal\"\n"
    );
    let plan = parsed(&text).unwrap();
    let names: Vec<&str> = plan.groups().iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        names,
        ["cal", "raw"],
        "a group stands behind what it waits for"
    );
    let raw = plan.group("raw").unwrap();
    assert_eq!(raw.from.to_string(), "slac:/data/raw");
    assert_eq!(raw.to.to_string(), "cern:store");
    assert!(!raw.rules[0].leaves_out && raw.rules[1].leaves_out);
    assert_eq!(raw.deadline, Some(1_796_148_000));
    let wan = &plan.links()["wan"];
    assert_eq!(wan.streams_each(), Some(8));
    assert_eq!(
        wan.gentle,
        crate::Gentle::Adding(units::Span::from_millis(5))
    );
    assert_eq!(plan.links()[LINK_DEFAULT].copies, 2);
    assert_eq!(plan.cut().names, 10);
}

#[test]
fn the_rate_of_a_link_follows_the_local_time() {
    let text = format!(
        "utc_offset = \"+02:00\"\n{HOSTS}[links.wan]\nrate = \"08:00=50M,18:00=none\"\n\
        [groups.a]\nfrom = \"/a\"\nto = \"cern:/a\"\nlink = \"wan\"\n"
    );
    let plan = parsed(&text).unwrap();
    let wan = &plan.links()["wan"];
    let at = |hour: i64| wan.rate_at(hour * 3600, plan.offset());
    assert_eq!((at(5), at(6)), (None, "50Mbit/s".parse().ok()));
    assert_eq!((at(15), at(16)), ("50Mbit/s".parse().ok(), None));
}

#[test]
fn quiet_hours_end() {
    let text = format!(
        "{HOSTS}[links.wan]\nquiet = [\"08:00-18:00\"]\n[groups.a]\nfrom = \"/a\"\n\
         to = \"cern:/a\"\nlink = \"wan\"\n"
    );
    let plan = parsed(&text).unwrap();
    let wan = &plan.links()["wan"];
    assert_eq!(wan.quiet_until(0, plan.offset()), Some(0));
    assert!(wan.is_quiet(8 * 3600, plan.offset()));
    assert_eq!(
        wan.quiet_until(8 * 3600 + 7, plan.offset()),
        Some(18 * 3600)
    );
}

/// Each mistake with the part of the message that names its value, and of the hint.
#[test]
fn mistakes_are_told_with_value_line_and_next_step() {
    let group = "[groups.raw]\nfrom = \"/data\"\n";
    let table: &[(&str, &str, &str)] = &[
        ("", "has no groups", "[groups.NAME]"),
        (
            "[groups.raw]\nto = \"cern:/x\"",
            "`from` is missing",
            "whose content",
        ),
        (
            &format!("{group}to = \"/x\""),
            "both ends are on this host",
            "use cp",
        ),
        (
            &format!("{group}to = \"cren:/x\""),
            "no host `cren`",
            "did you mean `cern`?",
        ),
        (
            &format!("{group}to = \"cern:\""),
            "names no folder",
            "cern:/store",
        ),
        (
            &format!("{group}to = \"data\""),
            "does not begin with `/`",
            "whole path",
        ),
        (
            &format!("{group}to = \"cern:/x\"\nlink = \"w\""),
            "no link `w`",
            "[links]",
        ),
        (
            &format!("{group}to = \"cern:/x\"\npriority = 10"),
            "10 is not",
            "1 to 9",
        ),
        (
            &format!("{group}to = \"cern:/x\"\npriorty = 1"),
            "`priorty`",
            "`priority`?",
        ),
        (
            &format!("{group}to = \"cern:/x\"\nexclude = [\"[a\"]"),
            "unclosed",
            "*.tmp",
        ),
        (
            &format!("{group}to = \"cern:/x\"\ndeadline = \"soon\""),
            "no moment",
            "2026",
        ),
        (
            &format!("{group}to = \"cern:/x\"\nafter = [\"raww\"]"),
            "no group `raww`",
            "`raw`?",
        ),
        (
            &format!("{group}to = \"cern:/x\"\nafter = [\"raw\"]"),
            "raw after raw",
            "leave",
        ),
        (
            &format!(
                "{group}to = \"cern:/x\"\n[groups.b]\nfrom = \"/b\"\nto = \"cern:/x/y\"\n\
                 [groups.c]\nfrom = \"/c\"\nto = \"cern:/x-y\""
            ),
            "`cern:/x/y` lies in `cern:/x`",
            "own",
        ),
        (
            "[groups.a]\nfrom = \"cern:/x\"\nto = \"cern:/x/y\"",
            "one lies in the other",
            "outside",
        ),
        ("[links.w]\ncopies = 0", "0 is not", "1 to 256"),
        (
            "[links.w]\ncopies = 4\nstreams = 2",
            "2 streams are fewer",
            "4 or more",
        ),
        ("[links.w]\ngentle = \"2h\"", "is not between", "write"),
        ("[links.w]\nrate = \"fast\"", "fast", ""),
        (
            "[links.w]\nrate = \"08:00=1k\"",
            "1kbit/s is not between 64kbit/s and 1Tbit/s",
            "write 64kbit/s",
        ),
        (
            "[links.w]\nrate = \"8:00=1M\"",
            "`8:00` is no time of day",
            "write it like",
        ),
        ("[links.w]\nip = \"5\"", "`5` is no version", "write"),
        (
            "[links.w]\ndscp = \"AF44\"",
            "or a number from 0 to 63",
            "mend",
        ),
        (
            "[links.w]\nquiet = [\"noon\"]",
            "no time of days",
            "write it like",
        ),
        (
            "[hosts]\nx = { address = \"x\", token = \"t\" }",
            "`t` does not begin",
            "whole path",
        ),
        ("[hosts.\"a b\"]\naddress = \"x\"", "no name", "letters"),
        (
            "[groups.\"../x\"]\nfrom = \"/a\"\nto = \"cern:/x\"",
            "no name",
            "letters",
        ),
        ("[shards]\nfiles = 1.5", "1.5 is not a whole", "write"),
        (
            "[hosts]\nx = { address = \"x\", also = [\"trunkline://y\"] }",
            "not reached as `x`",
            "servers alone",
        ),
        ("[shards]\nparts = \"48MiB\"", "no length of parts", "16GiB"),
        ("[shards]\nparts = \"32MiB\"", "no length of parts", "16GiB"),
        (
            &format!("{group}to = \"cern:/x/data\"\nbag = [\"crc32c\"]"),
            "`crc32c` is no checksum of bags",
            "md5",
        ),
        (
            &format!("{group}to = \"cern:/x/data\"\nbag = [\"md5\", \"md5\"]"),
            "`md5` is there twice",
            "once",
        ),
        (
            &format!("{group}to = \"cern:/x/data\"\nbag = []"),
            "at least one checksum",
            "sha256",
        ),
        (
            &format!("{group}to = \"cern:/x\"\nbag = [\"md5\"]"),
            "its folder `data`, and `to` is `cern:/x`",
            "/data",
        ),
        (
            &format!("{group}to = \"cern:/data\"\nbag = [\"md5\"]"),
            "`to` is `cern:/data`",
            "/bags/july/data",
        ),
        (
            &format!("{group}to = \"cern:/x/data\"\nbag = [\"md5\"]\n[shards]\nparts = \"1GiB\""),
            "files above 1GiB are cut",
            "leave out `parts`",
        ),
    ];
    for (text, problem, hint) in table {
        let text = match text.contains("[hosts") {
            true => (*text).to_owned(),
            false => format!("{text}\n{HOSTS}"),
        };
        let error = parsed(&text).unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains(problem),
            "{text}\n`{problem}` is missing in\n{told}"
        );
        let hints = error.mistakes().iter().any(|one| one.hint.contains(hint));
        assert!(hints, "{text}\n{told}");
    }
}

#[test]
fn a_bag_is_the_folder_around_its_data() {
    let group = "[groups.raw]\nfrom = \"/raw\"\nto = \"cern:/b/july/data\"\n";
    let plan = parsed(&format!("{HOSTS}{group}bag = [\"sha256\", \"md5\"]\n")).unwrap();
    let raw = plan.group("raw").unwrap();
    assert_eq!(raw.bag, ["sha256", "md5"]);
    assert_eq!(raw.bag_spot().unwrap().to_string(), "cern:/b/july");
    let plan = parsed(&format!("{HOSTS}{group}")).unwrap();
    assert_eq!(plan.group("raw").unwrap().bag_spot(), None);
}

#[test]
fn long_chains_of_groups_are_ordered_and_circles_told() {
    let group = |at: usize, after: usize| {
        format!("[groups.g{at}]\nfrom = \"/d{at}\"\nto = \"cern:/d{at}\"\nafter = [\"g{after}\"]\n")
    };
    let mut text = HOSTS.to_owned();
    (0..50).for_each(|at| text.push_str(&group(at, at + 1)));
    let chain = format!("{text}[groups.g50]\nfrom = \"/d50\"\nto = \"cern:/d50\"\n");
    let plan = parsed(&chain).unwrap();
    assert_eq!(plan.groups().first().unwrap().name.as_str(), "g50");
    assert_eq!(plan.groups().last().unwrap().name.as_str(), "g0");
    let circle = format!("{text}{}", group(50, 25));
    let told = parsed(&circle).unwrap_err().to_string();
    assert!(
        told.contains("groups wait for each other: g25 after g26"),
        "{told}"
    );
}

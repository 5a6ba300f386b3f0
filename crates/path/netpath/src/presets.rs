//! The named paths, most of them from field measurements. Their files say where they come from.

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../paths/", $name, ".toml")))),*]
    };
}

/// Name and text of every preset, by name.
const PRESETS: &[(&str, &str)] = presets![
    "anl-lbnl",
    "capped-buffers",
    "classes-ds3",
    "dadc-dumbbell",
    "dadc-dumbbell-cross12",
    "dadc-dumbbell-cross5",
    "lan",
    "lossy-wifi",
    "oc12-100ms",
    "oc3-80ms",
    "oc3-striping",
    "shallow-queue",
    "slac-caltech",
    "slac-cern",
    "slac-in2p3",
    "slac-twaren",
    "taipei-prague",
    "three-links",
    "twaren-cesnet",
];

/// The names, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The TOML of a preset.
pub fn text(name: &str) -> Option<&'static str> {
    PRESETS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use crate::PathSpec;

    #[test]
    fn every_preset_is_a_valid_path() {
        for name in super::names() {
            let path = PathSpec::load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(path.name, name);
        }
    }

    #[test]
    fn every_file_is_a_preset() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../paths");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        assert_eq!(files, super::names().collect::<Vec<_>>());
    }
}

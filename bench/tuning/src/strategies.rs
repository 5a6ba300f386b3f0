//! The searches that are compared, by name.

use tune::{Inferred, Strategy};

use crate::baselines::Baseline;

/// A search with its name.
pub type Named = (String, Box<dyn Strategy + Sync>);

/// The name of the search that `trunkline tune` makes.
const OURS: &str = "ours";

/// Ours and the baselines. The exhaustive search is left out unless it is asked for by name: it
/// takes long samples of a whole grid on each path, and what it would find is what everybody is
/// compared with.
pub fn names() -> Vec<String> {
    let others = |baseline: &Baseline| *baseline != Baseline::Exhaustive;
    let baselines = Baseline::ALL.into_iter().filter(others).map(Baseline::name);
    let all = [OURS].into_iter().chain(baselines);
    all.map(str::to_owned).collect()
}

/// The searches with these names.
///
/// # Errors
/// When there is none with one of them.
pub fn all(names: &[String]) -> Result<Vec<Named>, String> {
    let named = |name: &String| Ok((name.clone(), named(name)?));
    names.iter().map(named).collect()
}

/// The search that `trunkline tune` makes.
pub fn ours() -> &'static (dyn Strategy + Sync) {
    &Inferred
}

fn named(name: &str) -> Result<Box<dyn Strategy + Sync>, String> {
    if name == OURS {
        return Ok(Box::new(Inferred));
    }
    let wrong = || format!("`{name}` is not one of {}, exhaustive", names().join(", "));
    let baseline = Baseline::named(name).ok_or_else(wrong)?;
    Ok(Box::new(baseline))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_of_a_search_and_others_are_refused() {
        assert_eq!(all(&names()).unwrap().len(), names().len());
        let error = all(&["best".to_owned()]).err().unwrap();
        assert!(
            error.starts_with("`best` is not one of ours, default"),
            "{error}"
        );
    }
}

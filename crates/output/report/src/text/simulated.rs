//! Sentences about simulations.

use record::Campaign;
use record::simulate::{Aggregate, Choice, SimulatedSetting, Terms};

use units::Span;

use super::{plain, point};
use draw::format::{self, RateUnit};

/// The class of service of who asks for none: not worth a word.
const BEST_EFFORT: &str = "best-effort";

/// A setting in a few words: `8 streams with automatic windows, reno with SACK (sack)`.
pub fn setting(setting: &SimulatedSetting) -> String {
    let variant = variant(&setting.variant);
    format!("{}, {variant}", point(setting.streams, setting.window))
}

/// What a variant is called elsewhere, where that is another word: the kernel's `reno` repairs
/// losses by SACK.
pub fn variant(name: &str) -> String {
    // The kernel's `reno` is the first of them.
    match name {
        "sack" => "reno with SACK (sack)".to_owned(),
        "reno" => "reno without SACK (reno)".to_owned(),
        other => plain(other),
    }
}

/// What the streams of `scenario` carry and for how long, and what is counted.
pub fn terms(scenario: &Terms) -> String {
    let asked = |seconds| Span::from_secs_f64(seconds).to_string();
    let end = asked(scenario.duration_seconds);
    let from = asked(scenario.warmup_seconds);
    let until = match (scenario.bytes, scenario.per_stream_bytes) {
        (Some(bytes), _) => format!("{} in all, at most {end}", format::size(bytes)),
        (_, Some(bytes)) => format!("{} on each stream, at most {end}", format::size(bytes)),
        _ => format!("endless data for {end} of simulated time"),
    };
    let warmup = match scenario.warmup_seconds > 0.0 {
        true => format!(", counted from {from}"),
        false => String::new(),
    };
    let class = match scenario.class.as_str() {
        BEST_EFFORT => String::new(),
        class => format!("; class {}", plain(class)),
    };
    format!("{until}{warmup}{class}; {}", seeds(&scenario.seeds))
}

fn seeds(seeds: &[u64]) -> String {
    match seeds {
        [] => "no seed".to_owned(),
        [seed] => format!("seed {seed}"),
        [first, .., last] => format!("seeds {first} to {last}"),
    }
}

/// A mean with its standard deviation, where there is one: `33.1 \u{b1} 0.4 Mbit/s`.
pub fn spread(bits_per_second: u64, deviation: Option<u64>) -> String {
    let Some(deviation) = deviation else {
        return format::rate(bits_per_second);
    };
    let unit = RateUnit::fitting(bits_per_second as f64);
    let (mean, deviation) = (bits_per_second as f64, deviation as f64);
    let number = unit.number(mean);
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let margin = deviation / unit.factor;
    format!("{number} \u{b1} {margin:.decimals$} {}", unit.name)
}

/// A share taken from the cross traffic, in tenths of a percent: a few bits more than alone are
/// nothing.
pub fn taken_share(share: f64) -> String {
    format::percent((share * 1e3).round() / 1e3)
}

/// The goodput of all streams with its standard deviation over the seeds.
pub fn goodput(aggregate: &Aggregate) -> String {
    spread(
        aggregate.goodput_bits_per_second,
        aggregate.standard_deviation_bits_per_second,
    )
}

/// What stands out among the cells of one variant: two sentences.
pub fn choice(campaign: &Campaign, choice: &Choice) -> Option<String> {
    let (best, knee) = (
        campaign.cells.get(choice.best_cell)?,
        campaign.cells.get(choice.knee_cell)?,
    );
    let throughput =
        |cell: &record::simulate::Cell| cell.throughput_bits_per_second(&campaign.scenario);
    let (highest, reached) = (throughput(best)?, throughput(knee)?);
    let rate = |value: f64| format::rate(value.round() as u64);
    let named = |setting: &SimulatedSetting| point(setting.streams, setting.window);
    if choice.best_cell == choice.knee_cell {
        // Where no fewer streams were simulated there is nothing to say of them.
        let had_fewer = |cell: &record::simulate::Cell| cell.setting.streams < best.setting.streams;
        let fewer = match campaign.cells.iter().any(had_fewer) {
            true => "; nothing with fewer streams reaches 90 % of it",
            false => "",
        };
        return Some(format!(
            "{}: best with {}, {}{fewer}.",
            plain(&choice.variant),
            named(&best.setting),
            rate(highest)
        ));
    }
    let share = if highest > 0.0 {
        reached / highest
    } else {
        1.0
    };
    Some(format!(
        "{}: best with {}, {}; the knee is at {}, {}, {} of the best.",
        plain(&choice.variant),
        named(&best.setting),
        rate(highest),
        named(&knee.setting),
        rate(reached),
        format::percent(share)
    ))
}

/// What the numbers of a campaign are, for an axis.
pub fn title(scenario: &Terms) -> &'static str {
    match scenario.data_bytes(1) {
        None => "goodput",
        Some(_) => "throughput",
    }
}

/// What the numbers of a campaign are.
pub fn measure(scenario: &Terms) -> &'static str {
    match scenario.data_bytes(1) {
        None => "goodput",
        Some(_) => "data over the time it took",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn a_spread_has_the_decimals_of_its_mean() {
        assert_eq!(spread(33_123_456, Some(412_000)), "33.1 \u{b1} 0.4 Mbit/s");
        assert_eq!(spread(33_123_456, None), "33.1 Mbit/s");
    }

    #[test]
    fn nearly_nothing_is_nothing() {
        let texts = [-0.00002, 0.424].map(taken_share);
        assert_eq!(texts, ["0 %", "42 %"]);
    }

    #[test]
    fn best_and_knee_are_named_for_each_variant() {
        let campaign = synthetic::campaign().body;
        let texts: Vec<String> = campaign
            .choices
            .iter()
            .filter_map(|choice| super::choice(&campaign, choice))
            .collect();
        assert!(texts[0].starts_with("sack: best with "), "{texts:?}");
        assert!(texts[1].starts_with("cubic: best with "), "{texts:?}");
    }
}

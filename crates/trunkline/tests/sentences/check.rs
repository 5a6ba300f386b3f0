//! What is wrong with the sentences about a search, by its rows alone.
//!
//! The rules are written down here once more, from the printed words and not from the code that
//! follows them.

use record::{Answer, Objective, Recommended, Sample, Tune};
use report::{format, text};
use units::{Rate, Span};

/// Shares in sentences have two digits.
const SHARE_ROUNDED: f64 = 0.06;

pub fn faults(tune: &Tune) -> Vec<String> {
    let Some(answer) = &tune.answer else {
        return vec!["no answer".to_owned()];
    };
    let mut faults = choice(tune, &answer.recommended, |_| true);
    if let Some(unpaced) = &answer.unpaced {
        faults.extend(choice(tune, unpaced, |row| !is_paced(row)));
    }
    faults.extend(headline(tune, answer));
    faults.extend(verdicts(tune, answer));
    faults.extend(paced_evidence(tune));
    faults
}

/// What a row counts for, in bits per second; `None` of one that does not count.
fn counts(row: &Sample) -> Option<u64> {
    match &row.doubt {
        None => Some(row.run.goodput_bits_per_second),
        Some(doubt) => doubt.counts_for_bits_per_second,
    }
}

fn is_paced(row: &Sample) -> bool {
    row.run.setting.pacing.is_some()
}

fn streams(row: &Sample) -> u16 {
    row.run.setting.streams.get()
}

/// Whether the rows that count bear out what was chosen, and the words why.
fn choice(tune: &Tune, chosen: &Recommended, may: impl Fn(&Sample) -> bool) -> Vec<String> {
    let rows: Vec<(&Sample, u64)> = tune
        .samples
        .iter()
        .filter(|row| may(row))
        .filter_map(|row| Some((row, counts(row)?)))
        .collect();
    let row = &tune.samples[chosen.sample];
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{text} ({})", chosen.because));
    let Some(own) = counts(row) else {
        fault("what is recommended does not count".to_owned());
        return faults;
    };
    if row.run.goodput_bits_per_second != chosen.goodput_bits_per_second {
        fault("the recommendation is not what its row shows".to_owned());
    }
    let most = rows.iter().map(|(_, rate)| *rate).max().unwrap_or(0);
    let fewer = || {
        rows.iter()
            .filter(|(other, _)| streams(other) < streams(row))
    };
    let share = match tune.objective {
        Objective::Knee { share } => Some(share),
        Objective::Max => Some(0.99),
        Objective::Gentle { .. } if !chosen.because.contains("least delay") => Some(0.99),
        _ => None,
    };
    if let Some(share) = share {
        let wanted = share * most as f64;
        if (own as f64) < wanted {
            fault(format!("{own} is less than {share} of {most}"));
        }
        if let Some((other, rate)) = fewer().find(|(_, rate)| *rate as f64 >= wanted) {
            fault(format!(
                "{} streams reach it too, with {rate} of {most}",
                streams(other)
            ));
        }
    }
    if tune.objective == Objective::Power && !chosen.because.starts_with("no round") {
        let power = |row: &Sample, rate: u64| Some(rate as f64 / row.run.rtt_loaded_seconds()?);
        let best = rows
            .iter()
            .filter_map(|(row, rate)| power(row, *rate))
            .fold(0.0, f64::max);
        if power(row, own).unwrap_or(0.0) < 0.989 * best {
            fault("another has more power".to_owned());
        }
    }
    told(
        &chosen.because,
        "highest goodput, ",
        " with ",
        most,
        &mut fault,
    );
    if let Some(told) = after(&chosen.because, " carried most: ") {
        let best = fewer().map(|(_, rate)| *rate).max().unwrap_or(0);
        if told.trim_end_matches('.') != format::rate(best)
            && !told.starts_with(&format!("{};", format::rate(best)))
        {
            fault(format!("with fewer, {best} was most"));
        }
    }
    faults
}

/// The rate between two phrases has to be `rate`.
fn told(text: &str, before: &str, behind: &str, rate: u64, fault: &mut impl FnMut(String)) {
    let Some((told, _)) = after(text, before).and_then(|rest| rest.split_once(behind)) else {
        return;
    };
    if told != format::rate(rate) {
        fault(format!("{told} is told and {} is so", format::rate(rate)));
    }
}

fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    text.split_once(phrase).map(|(_, rest)| rest)
}

/// The headline, and what it says of one default stream.
fn headline(tune: &Tune, answer: &Answer) -> Vec<String> {
    let text = text::recommendation(tune);
    let row = &tune.samples[answer.recommended.sample].run;
    let mut faults = Vec::new();
    let rate = format::rate_with_margin(row.goodput_bits_per_second, row.interval.as_ref());
    if !text.contains(&rate) {
        faults.push(format!("the row has {rate}: {text}"));
    }
    let times = after(&text, "Mbit/s, ").and_then(|rest| rest.split_once(" times"));
    if let (Some((times, _)), Some(default)) = (times, answer.default_sample) {
        let default = &tune.samples[default].run;
        let ratio = row.goodput_bits_per_second as f64 / default.goodput_bits_per_second as f64;
        let (least, most) = times.split_once(" to ").unwrap_or((times, times));
        let holds = least
            .parse::<f64>()
            .is_ok_and(|least| least - 0.05 <= ratio)
            && most.parse::<f64>().is_ok_and(|most| ratio <= most + 0.05);
        if !holds || row.interval.is_none() || default.interval.is_none() {
            faults.push(format!("{times} times is told and {ratio} is so"));
        }
    }
    faults
}

/// What is said to limit the recommended setting and the default stream.
fn verdicts(tune: &Tune, answer: &Answer) -> Vec<String> {
    let cause = &answer.limit;
    let chosen = &tune.samples[answer.recommended.sample];
    let mut faults = verdict(
        tune,
        chosen,
        &cause.because,
        cause.could_reach.map(Rate::bits_per_second),
    );
    if let Some(default) = answer.default_sample {
        let default = &tune.samples[default];
        faults.extend(verdict(
            tune,
            default,
            &answer.limit_default.because,
            answer.limit_default.could_reach.map(Rate::bits_per_second),
        ));
        if default.run.limit() != Some(answer.limit_default.limit)
            && answer.default_sample != Some(answer.recommended.sample)
        {
            faults.push(format!(
                "the default row says {:?} and the text {:?}",
                default.run.limit(),
                answer.limit_default.limit
            ));
        }
    }
    faults
}

fn verdict(tune: &Tune, row: &Sample, because: &str, reach: Option<u64>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{text}: {because}"));
    let main = row.run.directions.first();
    let own = main.map_or(0, |way| way.goodput_bits_per_second);
    if let Some((share, _)) = because.split_once(" of the bytes were sent twice") {
        let (told, is) = (percent(share), row.run.retransmitted_ratio());
        if !close(told, is.map(|ratio| ratio * 100.0), SHARE_ROUNDED) {
            fault(format!("{told:?} % is told and {is:?} is so"));
        }
    }
    let idle = |row: &Sample| row.run.rtt.unloaded.as_ref()?.mean_seconds;
    let idle = tune.samples.iter().filter_map(idle).reduce(f64::min);
    // The senders' kernels may have seen less than the probes.
    let kernel = row.run.directions.iter().filter_map(|way| way.tcp.rtt);
    let kernel = kernel.map(Span::as_secs_f64).reduce(f64::min);
    let loaded = row.run.rtt_loaded_seconds().into_iter().chain(kernel);
    let added = loaded.reduce(f64::min).zip(idle);
    if because.contains("no queue stands")
        && let Some((loaded, empty)) = added
        && loaded - empty > f64::max(0.002, 0.05 * empty)
    {
        fault(format!("a queue adds {} s", loaded - empty));
    }
    if let Some((rate, _)) = because
        .split_once(" is ")
        .filter(|_| because.contains("of what the path carries"))
        && rate != format::rate(own)
    {
        fault(format!("the row has {}", format::rate(own)));
    }
    if let Some((head, rest)) = because.split_once(" streams carry ") {
        let told = rest
            .split_once(", ")
            .and_then(|(_, rest)| rest.split_once(" of its "));
        let other = head.trim().parse().ok();
        let with = |row: &&Sample| Some(streams(row)) == other;
        let rates: Vec<f64> = tune
            .samples
            .iter()
            .filter(with)
            .map(|row| row.run.goodput_bits_per_second as f64)
            .collect();
        let share = told.and_then(|(share, _)| percent(share));
        let is_so = |rate: &f64| close(share, Some(100.0 * rate / own as f64), SHARE_ROUNDED);
        if share.is_some() && !rates.iter().any(is_so) {
            fault(format!("{rates:?} and {own} are so"));
        }
    }
    let counted = |rate: u64| tune.samples.iter().any(|row| counts(row) == Some(rate));
    if let Some(reach) = reach.filter(|reach| !counted(*reach)) {
        fault(format!(
            "{reach} could be reached, and no row counts for it"
        ));
    }
    faults
}

/// The number in front of a trailing `%`.
fn percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%')?.trim();
    number.rsplit(' ').next()?.parse().ok()
}

fn close(told: Option<f64>, is: Option<f64>, tolerance: f64) -> bool {
    match (told, is) {
        (Some(told), Some(is)) => {
            (told - is).abs() <= tolerance * is.abs() + 1e-9
                || (told - is).abs() <= 0.5 && is > 10.0
        }
        (told, is) => told == is,
    }
}

/// Nothing that was sampled is asked for.
fn paced_evidence(tune: &Tune) -> Option<String> {
    let asks = |text: &String| text.contains("only a paced run would tell");
    let asked = text::tune(tune).into_iter().find(asks)?;
    tune.samples.iter().any(is_paced).then_some(asked)
}

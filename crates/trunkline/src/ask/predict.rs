//! Values of `predict`.

use observe::Window;
use units::{Bytes, Span};

use super::simulate::{streams_up_to, windows};
use super::{List, within};
use crate::predict::{FLOWS_MAX, FlowClass};

/// The most streams that the table and the search for the knee stay quick with.
const STREAMS_MAX: u32 = 4096;

/// Numbers of streams that formulas are asked for.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn counts(text: &str) -> Result<List<u32>, String> {
    streams_up_to(STREAMS_MAX, text)
}

/// The one window of a prediction.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn window(text: &str) -> Result<Window, String> {
    let list = windows(text)?;
    match list.0[..] {
        [window] => Ok(window),
        _ => Err(format!(
            "{} windows are given, a prediction takes one",
            list.0.len()
        )),
    }
}

/// A class of flows: how many, and what differs from the path's own settings, such as
/// `1e6,rtt=50ms,congestion=reno,window=64k,loss=1e-4,start=5s,stop=20s`.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn flow_class(text: &str) -> Result<FlowClass, String> {
    let mut parts = text.split(',').map(str::trim);
    let mut class = FlowClass::of(flows(parts.next().unwrap_or_default())?);
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let moment = |value| within(value, Span::ZERO..=Span::from_secs(86_400));
        match name {
            "rtt" => class.rtt = Some(within(value, Span::from_micros(100)..=Span::from_secs(10))?),
            "congestion" => class.congestion = Some(value.to_owned()),
            "window" => class.window = Some(fixed(value)?),
            "loss" => class.loss = loss(value)?,
            "start" => class.start = moment(value)?,
            "stop" => class.stop = Some(moment(value)?),
            other => {
                return Err(format!(
                    "`{other}` is none of rtt, congestion, window, loss, start, stop; write a \
                        class like `1000,rtt=50ms,congestion=reno`"
                ));
            }
        }
    }
    Ok(class)
}

fn fixed(text: &str) -> Result<Bytes, String> {
    window(text)?.fixed().ok_or_else(|| {
        format!("a window of `{text}` is no size; write 64k, or leave it out for the path's own")
    })
}

fn flows(text: &str) -> Result<u64, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of flows; write 1000 or 1e6"))?;
    let whole = number.fract() == 0.0 && (1.0..=FLOWS_MAX as f64).contains(&number);
    match whole {
        true => Ok(number as u64),
        false => Err(format!(
            "{text} flows are not a whole number between 1 and {FLOWS_MAX}"
        )),
    }
}

fn loss(text: &str) -> Result<f64, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a probability; write 1e-4"))?;
    match (0.0..=0.5).contains(&number) {
        true => Ok(number),
        false => Err(format!("a loss of {text} is not between 0 and 0.5")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_flows_has_what_differs_from_the_path() {
        let class = flow_class("1e6, rtt=50ms,congestion=reno,window=64k,stop=20s").unwrap();
        assert_eq!(
            (class.flows, class.rtt),
            (1_000_000, Some(Span::from_millis(50)))
        );
        assert_eq!(class.congestion.as_deref(), Some("reno"));
        assert_eq!(class.window, Some(Bytes::from_kib(64)));
        assert_eq!(
            (class.start, class.stop),
            (Span::ZERO, Some(Span::from_secs(20)))
        );
    }

    #[test]
    fn wrong_classes_are_told_with_the_value_and_the_bound() {
        let refusal = |text| flow_class(text).unwrap_err();
        assert!(refusal("0").contains("0 flows are not a whole number between 1 and 100000000"));
        assert!(refusal("1.5").contains("not a whole number"));
        assert!(refusal("nan").contains("not a whole number"));
        assert!(refusal("many").contains("write 1000 or 1e6"));
        assert!(refusal("10,speed=1").contains("`speed` is none of rtt, congestion"));
        assert!(refusal("10,loss=0.7").contains("not between 0 and 0.5"));
        assert!(refusal("10,rtt=1us").contains("between"));
        assert!(refusal("10,window=auto").contains("`auto` is no size"));
    }
}

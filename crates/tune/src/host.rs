//! Kernel settings that stand in the way, with values that would not.

use observe::{HostLimits, Limit, StreamCount, Window};
use units::Bytes;

use crate::advice::SysctlLine;
use crate::history::History;

/// A buffer holds about half payload, the rest is bookkeeping (`tcp_adv_win_scale` of 1): twice the
/// bandwidth-delay product.
const BUFFER_PER_PRODUCT: u64 = 2;
/// Lower two values of `tcp_rmem` and `tcp_wmem` as Linux ships them.
const RECEIVE_DEFAULTS: &str = "4096 131072";
const SEND_DEFAULTS: &str = "4096 16384";

/// Lines that let one stream fill the path; empty when no buffer limited the default stream, or the
/// host does not tell its limits.
pub(crate) fn host_advice(history: &History) -> Vec<SysctlLine> {
    let lines = || {
        let default = history.of(&history.setting(StreamCount::ONE, Window::Auto))?;
        let limit = history.verdict(default).limit;
        let binds = matches!(limit, Limit::ReceiveBuffer | Limit::SendBuffer);
        let limits = history.limits().filter(|_| binds)?;
        Some(lines(&limits, history.product()?))
    };
    lines().unwrap_or_default()
}

fn lines(limits: &HostLimits, product: Bytes) -> Vec<SysctlLine> {
    let grown = power_of_two(product.times(BUFFER_PER_PRODUCT));
    let asked = power_of_two(product);
    let grows = |what| {
        format!(
            "the kernel grows a {what} buffer no further by itself; {} fill the path",
            product.human()
        )
    };
    let grants = |what| {
        format!(
            "a program that asks for a {what} buffer gets no more; {} fill the path",
            product.human()
        )
    };
    let all = [
        (
            grown,
            limits.receive_auto_max,
            "net.ipv4.tcp_rmem",
            RECEIVE_DEFAULTS,
            grows("receive"),
        ),
        (
            grown,
            limits.send_auto_max,
            "net.ipv4.tcp_wmem",
            SEND_DEFAULTS,
            grows("send"),
        ),
        (
            asked,
            limits.receive_fixed_max,
            "net.core.rmem_max",
            "",
            grants("receive"),
        ),
        (
            asked,
            limits.send_fixed_max,
            "net.core.wmem_max",
            "",
            grants("send"),
        ),
    ];
    let binding = all.into_iter().filter(|(needed, now, ..)| now < needed);
    let line = |(needed, now, key, defaults, why): (Bytes, Bytes, &'static str, &str, String)| {
        SysctlLine {
            key,
            value: format!("{defaults} {}", needed.get()).trim().to_owned(),
            now,
            why,
        }
    };
    binding.map(line).collect()
}

fn power_of_two(bytes: Bytes) -> Bytes {
    Bytes::new(
        bytes
            .get()
            .checked_next_power_of_two()
            .unwrap_or(bytes.get()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_below_the_need_are_named_with_values_above_it() {
        let limits = HostLimits {
            send_fixed_max: Bytes::from_kib(208),
            receive_fixed_max: Bytes::from_mib(16),
            send_auto_max: Bytes::from_mib(4),
            receive_auto_max: Bytes::from_mib(1),
        };
        // 45 Mbit/s at 165 ms: 928 kB; twice that rounds up to 2 MiB.
        let lines = lines(&limits, Bytes::new(928_125));
        let settings: Vec<(&str, &str)> = lines
            .iter()
            .map(|line| (line.key, line.value.as_str()))
            .collect();
        assert_eq!(
            settings,
            [
                ("net.ipv4.tcp_rmem", "4096 131072 2097152"),
                ("net.core.wmem_max", "1048576")
            ]
        );
        assert_eq!(lines[0].now, Bytes::from_mib(1));
    }
}

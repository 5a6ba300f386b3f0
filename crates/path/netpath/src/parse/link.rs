//! One direction of a path, and both together.

use units::Span;

use super::{DELAY_MAX, cut, hosts, load, loss, policer, queue, rate, reorder, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::{Duplex, LinkSpec, Loss};

const FIELDS: [&str; 10] = [
    "rate",
    "delay",
    "queue",
    "policer",
    "loss",
    "reorder",
    "cut",
    "corruption",
    "load",
    "mtu",
];

/// A link of `[forward]` or `[reverse]`, between hosts with this MTU.
pub(super) fn link(section: &Section, hosts_mtu: u16) -> Result<LinkSpec, PathError> {
    section.only(&FIELDS)?;
    one_way(section, hosts_mtu)
}

/// A link of `[[before]]` or `[[beyond]]`, which has its way back inside.
pub(super) fn duplex(section: &Section, hosts_mtu: u16) -> Result<Duplex, PathError> {
    section.only(&[&FIELDS[..], &["reverse"]].concat())?;
    let forward = one_way(section, hosts_mtu)?;
    let reverse = match section.section("reverse")? {
        Some(reverse) => link(&reverse, hosts_mtu)?,
        None => mirrored(&forward),
    };
    Ok(Duplex { forward, reverse })
}

/// The way back where none is described: the same link, cut at the same times, without policer,
/// loss, reordering and others.
pub(super) fn mirrored(forward: &LinkSpec) -> LinkSpec {
    LinkSpec {
        policer: None,
        loss: Loss::None,
        reorder: None,
        corruption: 0.0,
        load: None,
        ..forward.clone()
    }
}

fn one_way(section: &Section, hosts_mtu: u16) -> Result<LinkSpec, PathError> {
    let rate::LinkRate { mean, variation } = rate::rate(section)?;
    let rate = mean.value;
    let delay = section.required("delay", "add the one-way delay, `delay = \"82.5ms\"`")?;
    let queue = section.required_section(
        "queue",
        "add `queue = { kind = \"drop-tail\", limit = \"128KiB\" }`",
    )?;
    let loss = match section.section("loss")? {
        Some(section) => loss::loss(&section)?,
        None => Loss::None,
    };
    let own_mtu = mtu(section, hosts_mtu)?;
    let mtu = own_mtu.unwrap_or(hosts_mtu);
    let load = match section.section("load")? {
        Some(section) => Some(load::load(&section, rate, mtu)?),
        None => None,
    };
    let policer = section.section("policer")?;
    let policer = policer.map(|section| policer::policer(&section, mtu));
    let reorder = section.section("reorder")?;
    let reorder = reorder.map(|section| reorder::reorder(&section));
    Ok(LinkSpec {
        rate,
        variation,
        policer: policer.transpose()?,
        delay: within(delay, Span::ZERO..=DELAY_MAX, "a delay", "check its unit")?,
        queue: queue::queue(&queue, mtu)?,
        loss,
        reorder: reorder.transpose()?,
        cuts: cut::cuts(section)?,
        corruption: corruption(section)?,
        load,
        mtu: own_mtu,
    })
}

/// The link's own MTU: hosts that would send nothing larger never meet a higher one.
fn mtu(section: &Section, hosts_mtu: u16) -> Result<Option<u16>, PathError> {
    let Some(mtu) = section.integer("mtu")? else {
        return Ok(None);
    };
    if mtu.value > i64::from(hosts_mtu) {
        return Err(mtu.refuse(
            format!(
                "an MTU of {} is above that of the hosts, {hosts_mtu}",
                mtu.value
            ),
            "lower it, or raise `hosts.mtu`".to_owned(),
        ));
    }
    let hint = "Ethernet has 1500, a tunnel some tens of bytes less";
    Ok(Some(within(mtu, hosts::MTU, "an MTU", hint)? as u16))
}

fn corruption(section: &Section) -> Result<f64, PathError> {
    let rate = section.probability("corruption")?;
    Ok(rate.map_or(0.0, |rate| rate.value))
}

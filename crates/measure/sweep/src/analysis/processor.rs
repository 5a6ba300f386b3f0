//! What throughput and streams cost this end's processor.

use observe::Window;

use super::fit;
use super::setting::Visited;
use super::shapes::{LineFit, Product};
use super::visit::Visit;

/// Sizes of streams times window that differ by less than this are one: windows of a grid are whole
/// bytes.
const SAME_PRODUCT: f64 = 0.01;

/// Share of a processor against goodput.
pub(super) fn against_goodput(visits: &[Visit<'_>]) -> Option<LineFit> {
    let points = visits
        .iter()
        .filter_map(|visit| Some((visit.goodput(), visit.cpu()?)));
    fit(&points.collect::<Vec<_>>())
}

/// Median of kernel over user time.
pub(super) fn kernel_to_user(visits: &[Visit<'_>]) -> Option<f64> {
    let ratios = visits.iter().filter_map(|visit| {
        let user = visit.figures.cpu_user_ratio.filter(|user| *user > 0.0)?;
        Some(visit.figures.cpu_kernel_ratio? / user)
    });
    stats::median(&ratios.collect::<Vec<_>>())
}

/// Processor time against streams where streams times window is one size, for sizes with three
/// numbers of streams or more.
pub(super) fn products(settings: &[Visited<'_>]) -> Vec<Product> {
    let size = |setting: &Visited<'_>| match setting.figures.setting.window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some(bytes.as_f64() * f64::from(setting.streams())),
    };
    let sized = settings
        .iter()
        .filter_map(|setting| Some((size(setting)?, setting)));
    let mut sized: Vec<(f64, &Visited<'_>)> = sized.collect();
    sized.sort_by(|a, b| a.0.total_cmp(&b.0));
    sized
        .chunk_by(|a, b| b.0 - a.0 < SAME_PRODUCT * a.0)
        .filter_map(product)
        .collect()
}

fn product(settings: &[(f64, &Visited<'_>)]) -> Option<Product> {
    let visits = || settings.iter().flat_map(|(_, setting)| &setting.visits);
    let mut streams: Vec<u16> = visits().map(|visit| visit.streams()).collect();
    streams.sort_unstable();
    streams.dedup();
    if streams.len() < 3 {
        return None;
    }
    let against = |share: fn(&Visit<'_>) -> Option<f64>| {
        let points = visits().filter_map(|visit| Some((f64::from(visit.streams()), share(visit)?)));
        fit(&points.collect::<Vec<_>>())
    };
    let sizes: Vec<f64> = settings.iter().map(|(bytes, _)| *bytes).collect();
    let kernel = against(|visit| visit.figures.cpu_kernel_ratio);
    let user = against(|visit| visit.figures.cpu_user_ratio);
    (kernel.is_some() || user.is_some()).then_some(Product {
        product_bytes: stats::median(&sizes)?.round() as u64,
        streams,
        kernel,
        user,
    })
}

//! Which settings lie on one line of a figure, or in one column of a map.

use std::collections::BTreeMap;
use units::Bytes;

use record::Window;

/// Settings that differ in their streams alone, or that share streams times window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What a legend calls it.
    pub name: String,
    /// What the head of a column calls it.
    pub short: String,
    /// The window at each number of streams.
    pub windows: BTreeMap<u16, Window>,
}

impl Column {
    /// The window that all of it have; `None` where streams times window is the same instead.
    pub fn window(&self) -> Option<Window> {
        let mut windows = self.windows.values();
        let first = *windows.next()?;
        windows.all(|window| *window == first).then_some(first)
    }

    /// Whether this setting belongs to it.
    pub fn has(&self, streams: u16, window: Window) -> bool {
        self.windows.get(&streams) == Some(&window)
    }
}

/// A column for each window. Where the grid has holes as columns of windows and fewer columns as
/// products, because it was asked for as products, a column for each product.
pub(super) fn columns(settings: &[(Window, u16)]) -> Vec<Column> {
    let by_window = by_window(settings);
    let most = by_window.iter().map(|column| column.windows.len()).max();
    let is_full = by_window
        .iter()
        .all(|column| Some(column.windows.len()) == most);
    if by_window.len() < 3 || is_full && most > Some(1) {
        return by_window;
    }
    match by_product(settings) {
        Some(products) if products.len() < by_window.len() => products,
        _ => by_window,
    }
}

fn by_window(settings: &[(Window, u16)]) -> Vec<Column> {
    let mut columns: BTreeMap<Window, BTreeMap<u16, Window>> = BTreeMap::new();
    for (window, streams) in settings {
        let column = columns.entry(*window).or_default();
        column.insert(*streams, *window);
    }
    let column = |(window, windows): (Window, BTreeMap<u16, Window>)| Column {
        name: format!("window {}", window),
        short: window.to_string(),
        windows,
    };
    columns.into_iter().map(column).collect()
}

/// Windows are whole bytes, and some programs ask for whole KiB: products so close are the same.
const SAME: f64 = 1.03;

/// `None` where a window is automatic, so that there is no product.
fn by_product(settings: &[(Window, u16)]) -> Option<Vec<Column>> {
    let product = |(window, streams): &(Window, u16)| match window {
        Window::Auto => None,
        Window::Fixed(bytes) => Some((bytes.times((*streams).into()), *streams, *window)),
    };
    let mut products: Vec<(Bytes, u16, Window)> =
        settings.iter().map(product).collect::<Option<_>>()?;
    products.sort_unstable();
    let close =
        |a: &(Bytes, u16, Window), b: &(Bytes, u16, Window)| b.0.as_f64() <= a.0.as_f64() * SAME;
    let column = |same: &[(Bytes, u16, Window)]| {
        let largest = same.last().map_or(Bytes::ZERO, |(product, _, _)| *product);
        let short = match largest.to_string() {
            exact if exact.len() <= 7 => exact,
            _ => largest.human(),
        };
        Column {
            name: format!("{short} in all"),
            short,
            windows: same
                .iter()
                .map(|(_, streams, window)| (*streams, *window))
                .collect(),
        }
    };
    Some(products.chunk_by(close).map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_of_windows_has_a_column_for_each() {
        let bytes = |kib: u64| Window::Fixed(Bytes::from_kib(kib));
        let settings = [8, 16]
            .into_iter()
            .flat_map(|kib| (1..4).map(move |n| (bytes(kib), n)));
        let columns = columns(&settings.collect::<Vec<_>>());
        assert_eq!(columns.len(), 2);
        assert_eq!(columns[0].window(), Some(bytes(8)));
        assert!(columns[1].has(3, bytes(16)) && !columns[1].has(3, bytes(8)));
    }

    #[test]
    fn products_that_share_windows_are_columns_too() {
        // 512 KiB, 1 MiB and 2 MiB over 1 to 32 streams: 18 settings with 8 windows.
        let settings = [512_u64, 1024, 2048].into_iter().flat_map(|kib| {
            let streams = [1_u16, 2, 4, 8, 16, 32].into_iter();
            streams.map(move |n| (Window::Fixed(Bytes::new((kib << 10) / u64::from(n))), n))
        });
        let columns = columns(&settings.collect::<Vec<_>>());
        let names: Vec<&str> = columns.iter().map(|column| column.short.as_str()).collect();
        assert_eq!(names, ["512KiB", "1MiB", "2MiB"]);
    }

    #[test]
    fn a_grid_of_products_has_a_column_for_each() {
        let settings = [5_000_000, 20_000_000]
            .into_iter()
            .flat_map(|product: u64| {
                let streams = [2_u16, 3, 8, 126].into_iter();
                streams.map(move |n| (Window::Fixed(Bytes::new(product / u64::from(n))), n))
            });
        let columns = columns(&settings.collect::<Vec<_>>());
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["5MB in all", "20MB in all"]);
        assert_eq!(columns[0].windows.len(), 4);
        assert_eq!(columns[0].window(), None);
    }
}

//! A chart on a page: its drawing, what a reader of screens hears of it, and links on it.

use draw::chart::palette::hex;
use draw::chart::{Axes, Chart, ChartError, Entry, Frame, Mark};
use maud::{Markup, PreEscaped, html};

use crate::range::Range;

/// A chart over time.
pub struct Figure {
    /// Its name on the page, a letter and more letters, for references to it.
    pub name: String,
    /// What it shows, in some words.
    pub title: String,
    /// What can be seen in it, in sentences.
    pub description: String,
    /// What the colours mean.
    pub legend: Vec<Entry>,
    /// What is drawn, from the top down.
    pub panels: Vec<Axes>,
    /// Its axis of time.
    pub range: Range,
    /// Links on it, in the order of time.
    pub links: Vec<Link>,
}

/// A link at a time of a chart.
pub struct Link {
    /// When, in seconds since 1970.
    pub at: f64,
    /// What stands on it: a short number.
    pub label: String,
    /// What it is about.
    pub title: String,
    /// Where it leads.
    pub href: String,
}

/// Half the size of a link on the drawing.
const RADIUS: f64 = 19.0;

impl Figure {
    /// The figure as a part of a page.
    ///
    /// # Errors
    /// When the chart cannot be drawn.
    pub fn draw(self) -> Result<Markup, ChartError> {
        let chart = Chart::new(Vec::new(), self.panels.clone());
        let (width, height) = chart.size();
        let frames = chart.frames();
        let svg = self.described(&chart.svg()?);
        let view = format!("0 0 {width} {height}");
        Ok(html! {
            figure.chart {
                div.plot id=(self.name) tabindex="0" role="group" aria-label=(self.title) {
                    (legend(&self.legend))
                    div.sheet {
                        (PreEscaped(svg))
                        @if let (Some(first), Some(last)) = (frames.first(), frames.last()) {
                            svg.over viewBox=(view) data-width=(width)
                                data-left=(first.left) data-right=(first.right)
                                data-top=(first.top) data-bottom=(last.bottom)
                                data-from=(self.range.from.seconds())
                                data-to=(self.range.to.seconds()) {
                                rect.hit x="0" y="0" width=(width) height=(height) {}
                                @for link in &self.links { (self.link(link, first)) }
                            }
                        }
                    }
                }
                figcaption { (self.description) }
            }
        })
    }

    /// The drawing alone.
    ///
    /// # Errors
    /// When the chart cannot be drawn.
    pub fn small(self) -> Result<Markup, ChartError> {
        let svg = Chart::new(Vec::new(), self.panels.clone()).svg()?;
        Ok(html! { div.plot { (PreEscaped(self.described(&svg))) } })
    }

    fn link(&self, link: &Link, frame: &Frame) -> Markup {
        let length = self.range.length().as_secs_f64().max(1.0);
        let share = (link.at - self.range.from.seconds() as f64) / length;
        let (left, right) = (f64::from(frame.left), f64::from(frame.right));
        let x = (left + share.clamp(0.0, 1.0) * (right - left)).round();
        let y = f64::from(frame.top) + RADIUS + 2.0;
        html! {
            a href=(link.href) aria-label={ (link.label) ": " (link.title) } {
                title { (link.title) }
                circle cx=(x) cy=(y) r=(RADIUS) {}
                text x=(x) y=(y) dy="0.36em" text-anchor="middle" { (link.label) }
            }
        }
    }

    /// The drawing with its title and description.
    fn described(&self, svg: &str) -> String {
        let words = html! {
            title id={ (self.name) "-title" } { (self.title) }
            desc id={ (self.name) "-words" } { (self.description) }
        };
        let head = format!(
            "<svg role=\"img\" aria-labelledby=\"{0}-title\" aria-describedby=\"{0}-words\" ",
            self.name
        );
        let svg = svg.replacen("<svg ", &head, 1);
        svg.replacen('>', &format!(">{}", words.into_string()), 1)
    }
}

/// What the colours of charts mean.
pub fn legend(entries: &[Entry]) -> Markup {
    html! {
        ul.legend aria-label="Colours" {
            @for entry in entries { li { (mark(entry.mark)) (entry.words) } }
        }
    }
}

fn mark(mark: Mark) -> Markup {
    let line = |colour, dashes| {
        html! {
            line x1="0" y1="8" x2="28" y2="8" stroke=(hex(colour)) stroke-width="4"
                stroke-dasharray=[dashes];
        }
    };
    let shape = match mark {
        Mark::Area(colour) => html! { rect width="28" height="16" fill=(hex(colour)); },
        Mark::Line(colour) => line(colour, None),
        Mark::Dashes(colour) => line(colour, Some("6 5")),
        Mark::Dot(colour) => html! { circle cx="14" cy="8" r="6" fill=(hex(colour)); },
        Mark::Cross(colour) => html! {
            path d="M8 2L20 14M20 2L8 14" stroke=(hex(colour)) stroke-width="4";
        },
        Mark::Ring(colour) => html! {
            circle cx="14" cy="8" r="6" fill="none" stroke=(hex(colour)) stroke-width="3";
        },
    };
    html! { svg.mark viewBox="0 0 28 16" aria-hidden="true" { (shape) } }
}

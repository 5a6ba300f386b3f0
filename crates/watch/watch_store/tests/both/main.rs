//! The same cases against SQLite and PostgreSQL.

mod collectors;
#[path = "../common/mod.rs"]
mod common;
mod events;
mod opening;
mod over_time;
mod pages;
mod traffic;
mod visits;

use std::thread;

use changes::{
    Detector, Event, EventKind, Failure, LossPattern, RoundTrips, Route, Visit, VisitKind,
};
use common::server::Server;
use common::{Draw, START, name, pair, time};
use units::{Rate, Span};
use watch_store::{
    DatabaseName, EventKey, Format, Kept, Level, Note, NoteKind, PairHistory, Receipt, Refusal,
    SavedDetector, SavedState, Selection, Series, Store, StoreError, Table,
};

/// Takes an empty database.
type Case = fn(&DatabaseName);

const CASES: [(&str, Case); 19] = [
    (
        "stored_visits_come_back_whole",
        visits::stored_visits_come_back_whole,
    ),
    (
        "sent_twice_is_stored_once",
        visits::sent_twice_is_stored_once,
    ),
    (
        "a_visit_that_was_stored_without_its_order_is_known",
        visits::a_visit_that_was_stored_without_its_order_is_known,
    ),
    (
        "a_number_too_large_is_refused_alone",
        visits::a_number_too_large_is_refused_alone,
    ),
    (
        "a_visit_too_long_is_refused_alone",
        visits::a_visit_too_long_is_refused_alone,
    ),
    (
        "the_highest_revision_stays",
        events::the_highest_revision_stays,
    ),
    (
        "open_events_are_found_whenever_they_began",
        events::open_events_are_found_whenever_they_began,
    ),
    (
        "notes_come_back_in_their_order",
        events::notes_come_back_in_their_order,
    ),
    (
        "many_open_and_write_at_once",
        collectors::many_open_and_write_at_once,
    ),
    (
        "roll_ups_miss_no_visit_of_writers",
        over_time::roll_ups_miss_no_visit_of_writers,
    ),
    (
        "old_raw_values_go_and_figures_stay",
        over_time::old_raw_values_go_and_figures_stay,
    ),
    (
        "the_last_hour_of_a_month_is_counted",
        over_time::the_last_hour_of_a_month_is_counted,
    ),
    (
        "points_stay_below_their_bound",
        over_time::points_stay_below_their_bound,
    ),
    (
        "the_grid_shows_the_latest",
        pages::the_grid_shows_the_latest,
    ),
    (
        "pages_get_what_they_ask_for",
        pages::pages_get_what_they_ask_for,
    ),
    ("one_collector_has_it", collectors::one_collector_has_it),
    (
        "traffic_adds_up_in_every_step",
        traffic::traffic_adds_up_in_every_step,
    ),
    (
        "hours_of_traffic_stay_when_minutes_go",
        traffic::hours_of_traffic_stay_when_minutes_go,
    ),
    (
        "absurd_traffic_is_bounded",
        traffic::absurd_traffic_is_bounded,
    ),
];

#[test]
fn sqlite() {
    for (case, run) in CASES {
        eprintln!("case {case}");
        let folder = tempfile::tempdir().unwrap();
        run(&DatabaseName::Sqlite(folder.path().join("watch.sqlite")));
    }
}

#[test]
fn postgresql() {
    let Some(server) = Server::start() else {
        return;
    };
    for (case, run) in CASES {
        eprintln!("case {case}");
        run(&server.database(case));
    }
    collectors::survives_a_crash_of_the_server(&server);
    opening::a_newer_schema_is_refused(&server);
    opening::a_server_is_read_without_making_tables(&server);
    opening::months_of_an_older_server_are_summed_up_anew(&server);
}

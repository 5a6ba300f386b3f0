use super::*;
use crate::Alerting;

const NOW: UnixTime = UnixTime::from_seconds(1_795_543_200);

fn alerting() -> Alerting {
    let text = "[[webhook]]\nurl = \"http://a/\"\n[[webhook]]\nurl = \"http://b/\"\n\
                [[alertmanager]]\nurl = \"http://c/\"\n";
    Alerting::parse(text, "alerts.toml").unwrap()
}

fn at(alerting: &Alerting, now: UnixTime) -> Situation<'_> {
    Situation {
        alerting,
        pairs: &[],
        now,
    }
}

fn notification(number: u64) -> Notification {
    let mut notification = Notification::test(NOW);
    notification.id = number.to_string();
    notification
}

#[test]
fn a_failed_delivery_waits_longer_each_time_and_ends_after_a_day() {
    let alerting = alerting();
    let mut outbox = Outbox::default();
    outbox.push(&[notification(1)], &at(&alerting, NOW));
    let due = outbox.due(&at(&alerting, NOW), &[]);
    let [first, second] = due.as_slice() else {
        panic!("{due:?}");
    };
    outbox.delivered(second, &Ok(()), NOW);
    let failed = Err(SendError::Message("down".to_owned()));
    let (mut now, mut pauses) = (NOW, Vec::new());
    while !outbox.due(&at(&alerting, now), &[]).is_empty() {
        outbox.delivered(first, &failed, now);
        if let Some(next) = outbox.next_due(&at(&alerting, now), false) {
            pauses.push(next.since(now).as_secs_f64() as u64);
            now = next;
        }
    }
    assert_eq!(pauses[..8], [30, 60, 120, 240, 480, 960, 1920, 3600]);
    assert!(pauses[8..].iter().all(|pause| *pause == 3600), "{pauses:?}");
    let unsent = outbox.unsent();
    assert_eq!((unsent.len(), unsent[0].is_given_up), (1, true));
    assert_eq!(unsent[0].receiver, Receiver::Webhook(0));
    assert!(now.since(NOW) >= TRIED);
}

#[test]
fn the_box_is_bounded_and_says_what_it_gave_up() {
    let alerting = alerting();
    let mut outbox = Outbox::default();
    for number in 0..2000 {
        outbox.push(&[notification(number)], &at(&alerting, NOW));
    }
    assert_eq!(outbox.due(&at(&alerting, NOW), &[]).len(), WAITING_MAX);
    assert_eq!(outbox.unsent().len(), GIVEN_UP_MAX);
}

#[test]
fn what_waits_for_a_receiver_that_is_configured_no_more_is_dropped() {
    let before = alerting();
    let mut outbox = Outbox::default();
    outbox.push(&[notification(1)], &at(&before, NOW));
    let after = Alerting::parse("[[webhook]]\nurl = \"http://a/\"", "alerts.toml").unwrap();
    outbox.push(&[], &at(&after, NOW));
    let due = outbox.due(&at(&after, NOW), &[]);
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].receiver, Receiver::Webhook(0));
}

#[test]
fn alertmanager_hears_what_is_open_each_minute_and_news_at_once() {
    let alerting = alerting();
    let mut outbox = Outbox::default();
    let firing = [Firing::new(&notification(1), None)];
    let told = |outbox: &Outbox, seconds: u64| {
        let now = NOW + Span::from_secs(seconds);
        let due = outbox.due(&at(&alerting, now), &firing);
        due.into_iter()
            .find(|one| one.receiver == Receiver::Alertmanager(0))
    };
    let first = told(&outbox, 0).unwrap();
    outbox.delivered(&first, &Ok(()), NOW);
    assert_eq!(told(&outbox, 59), None);
    assert!(told(&outbox, 60).is_some());
    // Another alert does not wait for the minute.
    outbox.push(&[notification(2)], &at(&alerting, NOW + Span::from_secs(5)));
    assert!(told(&outbox, 5).is_some());
    // A failure is shown until it is over.
    outbox.delivered(&first, &Err(SendError::Message("down".to_owned())), NOW);
    assert_eq!(
        outbox.unsent()[0].problem,
        "the message could not be made: down"
    );
    outbox.delivered(&first, &Ok(()), NOW);
    assert_eq!(outbox.unsent(), []);
}

use std::time::Duration;

use super::*;

fn pair() -> (UdpSocket, UdpSocket) {
    let ends = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let [near, far] = ends;
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    far.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    (near, far)
}

#[test]
fn a_row_arrives_as_the_datagrams_that_it_is_of() {
    let (near, far) = pair();
    let mut sender = DatagramSender::new(near).unwrap();
    let mut receiver = DatagramReceiver::new(far).unwrap();
    let row: Vec<u8> = (0..40_u8).flat_map(|number| [number; 1_000]).collect();
    assert_eq!(sender.row_max(1_000), 64);
    while sender.send(&row, 1_000).unwrap() != Handed::Sent {}
    let mut numbers = Vec::new();
    while numbers.len() < 40 {
        let row = receiver.receive().unwrap().expect("nothing came");
        assert!(row.stamp.is_some() && row.dropped == 0);
        for datagram in row.datagrams() {
            assert_eq!(datagram.len(), 1_000);
            numbers.push(datagram[0]);
        }
    }
    assert_eq!(numbers, (0..40).collect::<Vec<u8>>());
    assert_eq!(receiver.dropped_last(), 0);
}

#[test]
fn what_the_receiver_has_no_room_for_is_counted_there() {
    let (near, far) = pair();
    let mut sender = DatagramSender::new(near).unwrap();
    let small = SockRef::from(&far).try_clone().unwrap();
    let mut receiver = DatagramReceiver::new(far).unwrap();
    small.set_recv_buffer_size(1 << 14).unwrap();
    let datagram = [7; 1_400];
    for _ in 0..1_000 {
        assert_eq!(sender.send(&datagram, 1_400).unwrap(), Handed::Sent);
    }
    let dropped = receiver.dropped_last();
    assert!((900..1_000).contains(&dropped), "{dropped}");
    let mut came = 0;
    while came < 1_000 - dropped {
        came += receiver.receive().unwrap().unwrap().datagrams().count() as u64;
    }
    // The next one tells how many before it did not fit.
    sender.send(&datagram, 1_400).unwrap();
    let row = receiver.receive().unwrap().unwrap();
    assert_eq!((row.dropped, row.datagrams().count()), (dropped, 1));
    assert_eq!(receiver.dropped_last(), 0);
}

use super::*;
use crate::ErrorCode;

fn checked(json: &str) -> Result<TestRequest, RequestError> {
    TestRequest::from_params(&Params::from_json(json.as_bytes())?)
}

#[test]
fn a_request_survives_its_document() {
    let request = TestRequest {
        direction: Direction::Both,
        window: Some(Bytes::from_kib(256)),
        segment: Some(Bytes::new(1_200)),
        nagle: Nagle::Off,
        congestion: Some("reno".to_owned()),
        pacing: Some(Rate::from_bits_per_second(45_000_000)),
        dscp: Some(Dscp::LOWER_EFFORT),
        server_output: ServerOutput::Wanted,
        offer: Some(Offer::default()),
        ..TestRequest::new(8, TestEnd::After(Span::from_secs(10)))
    };
    assert_eq!(TestRequest::from_params(&request.to_params()), Ok(request));
}

#[test]
fn a_type_of_service_is_a_class_without_its_congestion_bits() {
    let class = |json| checked(json).unwrap().dscp;
    assert_eq!(class(r#"{"TOS":187}"#), Dscp::new(46));
    for none in [
        r#"{"TOS":0}"#,
        r#"{"TOS":3}"#,
        r#"{"TOS":256}"#,
        r#"{"TOS":-1}"#,
    ] {
        assert_eq!(class(none), None);
    }
}

#[test]
fn an_empty_document_is_one_forward_stream_without_end() {
    assert_eq!(checked("{}"), Ok(TestRequest::new(1, TestEnd::Client)));
}

#[test]
fn bytes_and_blocks_end_a_test_only_without_a_time() {
    let end = |json| checked(json).unwrap().end;
    let bytes = TestEnd::Bytes(Bytes::new(1_000_000));
    assert_eq!(end(r#"{"time":0,"num":1000000}"#), bytes);
    assert_eq!(end(r#"{"time":0,"blockcount":1000,"len":1000}"#), bytes);
    let time = TestEnd::After(Span::from_secs(3));
    assert_eq!(end(r#"{"time":3,"num":0,"blockcount":0}"#), time);
}

#[test]
fn absurd_counts_are_refused_with_value_and_bound() {
    let text = |json| checked(json).unwrap_err().to_string();
    assert_eq!(
        text(r#"{"parallel":1000000000}"#),
        "1000000000 streams were asked for; 1 to 128 are possible"
    );
    assert!(checked(r#"{"parallel":0}"#).is_err());
    assert!(checked(r#"{"parallel":-1}"#).is_err());
    assert_eq!(
        text(r#"{"time":86401}"#),
        "a test of 86401 s was asked for; 0 to 86400 are possible"
    );
    assert!(text(r#"{"window":99999999999}"#).contains("536870912"));
    assert!(text(r#"{"MSS":20}"#).contains("88 to 32767"));
}

#[test]
fn each_refusal_has_iperf3s_number() {
    let code = |json| checked(json).unwrap_err().code();
    assert_eq!(code(r#"{"parallel":129}"#), ErrorCode(6));
    assert_eq!(code(r#"{"sctp":true}"#), ErrorCode(13));
    assert_eq!(code("nonsense"), ErrorCode(114));
}

#[test]
fn a_hostile_block_size_is_pulled_into_range() {
    assert_eq!(checked(r#"{"len":999999999999}"#).unwrap().block, BLOCK_MAX);
    assert_eq!(checked(r#"{"len":-5}"#).unwrap().block, BLOCK_DEFAULT);
}

#[test]
fn a_strange_congestion_name_is_dropped() {
    assert_eq!(checked(r#"{"congestion":"a b"}"#).unwrap().congestion, None);
    assert_eq!(
        checked(r#"{"congestion":"averyverylongname"}"#)
            .unwrap()
            .congestion,
        None
    );
}

#[test]
fn the_slower_of_both_rates_holds() {
    let request = checked(r#"{"fqrate":0,"bandwidth":1000000}"#).unwrap();
    assert_eq!(request.pacing, Some(Rate::from_bits_per_second(1_000_000)));
}

#[test]
fn the_server_mirrors_the_clients_streams() {
    let mut request = TestRequest::new(4, TestEnd::Client);
    request.direction = Direction::Reverse;
    assert_eq!(
        request.server_streams(),
        StreamPlan {
            send: 4,
            receive: 0
        }
    );
    request.direction = Direction::Both;
    assert_eq!(request.server_streams().total(), 8);
}

#[test]
fn an_offer_below_the_version_spoken_here_is_none() {
    let offer = |version: u32| {
        let json = format!(r#"{{"trunkline":{{"version":{version}}}}}"#);
        checked(&json).unwrap().offer
    };
    assert_eq!(offer(0), None);
    assert_eq!(
        offer(9),
        Some(Offer {
            version: 9,
            ..Offer::default()
        })
    );
}

#[test]
fn datagrams_have_what_iperf3_sends_of_them() {
    let json = r#"{"udp":true,"bandwidth":0,"len":0,"burst":7,"udp_counters_64bit":1,
        "parallel":4,"bidirectional":true}"#;
    let request = checked(json).unwrap();
    let form = request.datagrams.unwrap();
    assert_eq!((form.counter, form.burst), (Counter::Wide, 7));
    assert_eq!((request.pacing, request.block.get()), (None, 1_460));
    let params = request.to_params();
    assert!(params.udp && !params.tcp);
    assert_eq!((params.bandwidth, params.fqrate), (Some(0), None));
    assert_eq!(
        checked(&String::from_utf8(params.to_json()).unwrap()),
        Ok(request)
    );
    let least = |json| checked(json).unwrap().block.get();
    assert_eq!(least(r#"{"udp":true,"len":1}"#), 12);
    assert_eq!(least(r#"{"udp":true,"len":1,"udp_counters_64bit":1}"#), 16);
    assert_eq!(least(r#"{"udp":true,"len":100000}"#), 65_507);
    let burst = checked(r#"{"udp":true,"burst":99999}"#).unwrap().datagrams;
    assert_eq!(burst.unwrap().burst, 1_000);
}

//! Windows that a kernel granted less of than was asked for.

use record::{Buffer, Run, Stream, StreamDirection};

/// What a kernel made of a window that was asked for, where that is less.
pub(super) fn clamped(run: &Run) -> Option<String> {
    let buffers = run.streams.iter().flat_map(buffers_of_use);
    let mut clamped = buffers.filter(|(_, buffer, _)| buffer.is_clamped());
    let (place, buffer, sysctl) = clamped.next()?;
    let (granted, asked) = (buffer.granted, buffer.asked?);
    let also = clamped.find(|(_, _, other)| *other != sysctl);
    let also = also.map_or(String::new(), |(place, _, sysctl)| {
        format!("; so does {sysctl} {place}")
    });
    Some(format!(
        "The kernel {place} granted {granted} where 2 \u{d7} {asked} were due: {sysctl} clamps \
            it{also}."
    ))
}

/// The sender's send buffer and the receiver's receive buffer, with their place and their bound.
fn buffers_of_use(stream: &Stream) -> Vec<(&'static str, Buffer, &'static str)> {
    const SEND: &str = "net.core.wmem_max";
    const RECEIVE: &str = "net.core.rmem_max";
    const NEAR: &str = "here";
    const FAR: &str = "at the far end";
    let (near, far) = (stream.buffers, stream.buffers_far);
    let (near, far) = match stream.direction {
        StreamDirection::Sending => (
            near.map(|near| (NEAR, near.send, SEND)),
            far.map(|far| (FAR, far.receive, RECEIVE)),
        ),
        StreamDirection::Receiving => (
            near.map(|near| (NEAR, near.receive, RECEIVE)),
            far.map(|far| (FAR, far.send, SEND)),
        ),
    };
    near.into_iter().chain(far).collect()
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;
    use record::synthetic::{self, Case};

    #[test]
    fn a_clamped_window_names_its_end_and_its_bound() {
        let mut body = synthetic::measure(&Case::streams(2, 1)).body;
        let fine = Buffer {
            asked: Some(Bytes::from_mib(1)),
            granted: Bytes::from_mib(2),
        };
        let small = Buffer {
            granted: Bytes::from_kib(416),
            ..fine
        };
        for stream in &mut body.run.streams {
            stream.buffers.as_mut().unwrap().send = fine;
            stream.buffers_far = None;
        }
        assert_eq!(clamped(&body.run), None);
        let stream = &mut body.run.streams[0];
        stream.direction = StreamDirection::Sending;
        stream.buffers.as_mut().unwrap().send = small;
        let text = crate::text::measure(&body).join(" ");
        let said = "The kernel here granted 416KiB where 2 \u{d7} 1MiB were due: net.core.wmem_max \
            clamps it.";
        assert!(text.contains(said), "{text}");
        let stream = &mut body.run.streams[0];
        stream.buffers_far = stream.buffers;
        stream.buffers_far.as_mut().unwrap().receive = small;
        stream.buffers.as_mut().unwrap().send = fine;
        let text = clamped(&body.run).unwrap();
        assert!(
            text.contains("at the far end") && text.contains("rmem_max"),
            "{text}"
        );
    }
}

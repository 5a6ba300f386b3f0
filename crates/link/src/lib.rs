//! A link that carries packets: queue, serialisation, loss, delay; time is passed in

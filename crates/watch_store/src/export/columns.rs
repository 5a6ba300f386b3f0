//! The columns of an export.

use changes::Visit;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use crate::StoredVisit;

/// Names as in documents. The order is that of [`of`].
pub(super) const SCHEMA: &str = "message visits {
    optional binary id (STRING);
    optional binary from_host (STRING);
    optional binary to_host (STRING);
    optional binary task (STRING);
    optional binary kind (STRING);
    optional binary limit (STRING);
    optional binary far_kernel (STRING);
    optional binary failure (STRING);
    optional int64 at (TIMESTAMP(MILLIS, true));
    optional int64 goodput_bits_per_second;
    optional int64 probes_sent;
    optional int64 probes_lost;
    optional int64 probes_duplicated;
    optional int64 probes_reordered;
    optional int64 route_hash (INTEGER(64, false));
    optional double resent_ratio;
    optional double stolen_ratio;
    optional double loaded_rtt_seconds;
    optional group round_trips_seconds (LIST) { repeated group list { required double element; } }
    optional group rates_bits_per_second (LIST) { repeated group list { required int64 element; } }
}";

/// Values of one column.
pub(super) enum Column {
    Text(Vec<Option<ByteArray>>),
    Int(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Ints(Vec<Option<Vec<i64>>>),
    Reals(Vec<Option<Vec<f64>>>),
}

/// All columns of some visits.
pub(super) fn of(visits: &[StoredVisit]) -> Vec<Column> {
    let text = |value: fn(&StoredVisit) -> Option<String>| {
        let bytes = |visit| value(visit).map(|text| ByteArray::from(text.into_bytes()));
        Column::Text(visits.iter().map(bytes).collect())
    };
    let int = |value: fn(&Visit) -> Option<i64>| {
        Column::Int(visits.iter().map(|stored| value(&stored.visit)).collect())
    };
    let real = |value: fn(&Visit) -> Option<f64>| {
        Column::Real(visits.iter().map(|stored| value(&stored.visit)).collect())
    };
    vec![
        text(|stored| Some(stored.id.to_string())),
        text(|stored| Some(stored.pair.from.to_string())),
        text(|stored| Some(stored.pair.to.to_string())),
        text(|stored| Some(stored.task.to_string())),
        text(|stored| Some(stored.visit.kind.name().to_owned())),
        text(|stored| stored.visit.limit.map(|limit| limit.name().to_owned())),
        text(|stored| stored.visit.far_host.as_ref()?.kernel.clone()),
        text(|stored| Some(stored.visit.failure.as_ref()?.reason.clone())),
        int(|visit| Some(crate::rows::second(visit.at).saturating_mul(1000))),
        int(|visit| Some(visit.goodput?.bits_per_second().cast_signed())),
        int(|visit| Some(visit.probes?.sent.into())),
        int(|visit| Some(visit.probes?.lost.into())),
        int(|visit| Some(visit.probes?.duplicated.into())),
        int(|visit| Some(visit.probes?.reordered.into())),
        int(|visit| Some(visit.route.as_ref()?.hash.cast_signed())),
        real(|visit| visit.resent.map(f64::from)),
        real(|visit| visit.stolen.map(f64::from)),
        real(|visit| Some(visit.loaded?.as_secs_f64())),
        Column::Reals(visits.iter().map(trips).collect()),
        Column::Ints(visits.iter().map(rates).collect()),
    ]
}

fn trips(stored: &StoredVisit) -> Option<Vec<f64>> {
    let trips = stored.visit.round_trips.as_ref()?.sorted();
    Some(trips.iter().map(|trip| trip.as_secs_f64()).collect())
}

fn rates(stored: &StoredVisit) -> Option<Vec<i64>> {
    let rates = stored.rates.as_ref()?;
    Some(
        rates
            .iter()
            .map(|rate| rate.bits_per_second().cast_signed())
            .collect(),
    )
}

impl Column {
    pub fn write(self, place: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Column::Text(values) => flat::<ByteArrayType>(place, values),
            Column::Int(values) => flat::<Int64Type>(place, values),
            Column::Real(values) => flat::<DoubleType>(place, values),
            Column::Ints(values) => lists::<Int64Type>(place, values),
            Column::Reals(values) => lists::<DoubleType>(place, values),
        }
    }
}

fn flat<T: DataType>(
    place: &mut SerializedColumnWriter<'_>,
    values: Vec<Option<T::T>>,
) -> Result<(), ParquetError> {
    let defined: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    place
        .typed::<T>()
        .write_batch(&values, Some(&defined), None)?;
    Ok(())
}

/// Definition 0 is an absent list, 1 an empty one, 2 an element; repetition 0 begins a list.
/// Source: Parquet's LogicalTypes, "Lists".
fn lists<T: DataType>(
    place: &mut SerializedColumnWriter<'_>,
    lists: Vec<Option<Vec<T::T>>>,
) -> Result<(), ParquetError> {
    let (mut defined, mut repeated, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for list in lists {
        let elements = list.as_ref().map_or(0, Vec::len);
        if elements == 0 {
            defined.push(i16::from(list.is_some()));
            repeated.push(0);
        }
        defined.extend(std::iter::repeat_n(2, elements));
        repeated.extend((0..elements).map(|place| i16::from(place > 0)));
        values.extend(list.into_iter().flatten());
    }
    place
        .typed::<T>()
        .write_batch(&values, Some(&defined), Some(&repeated))?;
    Ok(())
}

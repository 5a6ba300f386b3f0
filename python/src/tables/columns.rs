//! Columns, one after another, each with its unit.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::TimestampSecondBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, TimestampSecondType, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, RecordBatch,
    StringArray, UInt32Array, UInt64Array,
};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The key of a unit in the metadata of a field.
pub const UNIT: &str = "unit";

/// The columns of a table that grows from left to right.
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

/// Values with a place for each row, and which of them are known.
struct Known<T> {
    values: Vec<T>,
    known: Option<BooleanBufferBuilder>,
}

impl<T: Default> Known<T> {
    /// Memory for which rows are known is taken at the first one that is not.
    fn of(rows: impl Iterator<Item = Option<T>>, capacity: usize) -> Self {
        let mut values = Vec::with_capacity(capacity);
        let mut known: Option<BooleanBufferBuilder> = None;
        for value in rows {
            if value.is_none() && known.is_none() {
                let mut before = BooleanBufferBuilder::new(capacity);
                before.append_n(values.len(), true);
                known = Some(before);
            }
            if let Some(known) = &mut known {
                known.append(value.is_some());
            }
            values.push(value.unwrap_or_default());
        }
        Known { values, known }
    }

    fn nulls(&mut self) -> Option<NullBuffer> {
        self.known
            .take()
            .map(|mut known| NullBuffer::new(known.finish()))
    }
}

impl Columns {
    /// The finished table.
    pub fn batch(self) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
    }

    /// A column that is finished.
    pub fn add(&mut self, name: &str, array: ArrayRef) {
        let field = Field::new(name, array.data_type().clone(), true);
        let field = match unit(name) {
            Some(unit) => {
                let metadata = HashMap::from([(UNIT.to_owned(), unit.to_owned())]);
                field.with_metadata(metadata)
            }
            None => field,
        };
        self.fields.push(field);
        self.arrays.push(array);
    }

    /// Numbers with a fraction.
    pub fn f64<R>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> Option<f64>) {
        let mut known = Known::of(rows.iter().map(value), rows.len());
        let nulls = known.nulls();
        self.add(
            name,
            Arc::new(Float64Array::new(ScalarBuffer::from(known.values), nulls)),
        );
    }

    /// Counts.
    pub fn u64<R>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> Option<u64>) {
        let mut known = Known::of(rows.iter().map(value), rows.len());
        let nulls = known.nulls();
        self.add(
            name,
            Arc::new(UInt64Array::new(ScalarBuffer::from(known.values), nulls)),
        );
    }

    /// Counts that stay small.
    pub fn u32<R>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> Option<u32>) {
        let mut known = Known::of(rows.iter().map(value), rows.len());
        let nulls = known.nulls();
        self.add(
            name,
            Arc::new(UInt32Array::new(ScalarBuffer::from(known.values), nulls)),
        );
    }

    /// Yes or no.
    pub fn bool<R>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> Option<bool>) {
        let array: BooleanArray = rows.iter().map(value).collect();
        self.add(name, Arc::new(array));
    }

    /// Words.
    pub fn text<R>(&mut self, name: &str, rows: &[R], value: impl Fn(&R) -> Option<String>) {
        let array: StringArray = rows.iter().map(value).collect();
        self.add(name, Arc::new(array));
    }

    /// One of a few words, which are stored once.
    pub fn word<R>(&mut self, name: &str, rows: &[R], words: &[&str], value: impl Fn(&R) -> i8) {
        let keys: Int8Array = rows.iter().map(|row| Some(value(row))).collect();
        let words: StringArray = words.iter().map(|word| Some(*word)).collect();
        match DictionaryArray::<Int8Type>::try_new(keys, Arc::new(words)) {
            Ok(array) => self.add(name, Arc::new(array)),
            Err(error) => unreachable!("keys of {name} within its words: {error}"),
        }
    }
}

impl Columns {
    /// A column that [`to_python`] gave, of the kind that [`kind`] named.
    pub fn add_python(
        &mut self,
        name: &str,
        kind: &str,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        match kind {
            "real" => self.f64(name, &values.extract::<Vec<Option<f64>>>()?, |one| *one),
            "whole" => self.u64(name, &values.extract::<Vec<Option<u64>>>()?, |one| *one),
            "small" => self.u32(name, &values.extract::<Vec<Option<u32>>>()?, |one| *one),
            "bool" => self.bool(name, &values.extract::<Vec<Option<bool>>>()?, |one| *one),
            "text" => self.text(
                name,
                &values.extract::<Vec<Option<String>>>()?,
                Option::clone,
            ),
            "word" => {
                let words: Vec<Option<String>> = values.extract()?;
                let array: DictionaryArray<Int8Type> = words.iter().map(Option::as_deref).collect();
                self.add(name, Arc::new(array));
            }
            "moment" => {
                let mut moments = TimestampSecondBuilder::new().with_timezone("UTC");
                for moment in values.try_iter()? {
                    let moment = moment?;
                    moments.append_option(match moment.is_none() {
                        true => None,
                        false => Some(moment.call_method0("timestamp")?.extract::<f64>()? as i64),
                    });
                }
                self.add(name, Arc::new(moments.finish()));
            }
            other => {
                return Err(PyTypeError::new_err(format!(
                    "no column is of the kind {other}"
                )));
            }
        }
        Ok(())
    }
}

/// What a column holds, in a word.
pub fn kind(array: &ArrayRef) -> &'static str {
    match array.data_type() {
        DataType::Float64 => "real",
        DataType::UInt64 => "whole",
        DataType::UInt32 => "small",
        DataType::Boolean => "bool",
        DataType::Timestamp(..) => "moment",
        DataType::Dictionary(..) => "word",
        _ => "text",
    }
}

/// The unit that ends a name, as the documents have it.
fn unit(name: &str) -> Option<&'static str> {
    const ENDS: [(&str, &str); 7] = [
        ("_bits_per_second", "bit/s"),
        ("_seconds", "s"),
        ("_bytes", "B"),
        ("_segments", "segments"),
        ("_packets", "packets"),
        ("_ratio", "1"),
        ("retransmits", "segments"),
    ];
    let whole = match name {
        "bytes" => Some("B"),
        _ => None,
    };
    let ending = ENDS.iter().find(|(end, _)| name.ends_with(end));
    whole.or(ending.map(|(_, unit)| *unit))
}

/// The values of a column as Python objects.
pub fn to_python<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let list = match array.data_type() {
        DataType::Float64 => {
            let values: Vec<Option<f64>> = array.as_primitive::<Float64Type>().iter().collect();
            values.into_pyobject(py)?
        }
        DataType::UInt64 => {
            let values: Vec<Option<u64>> = array.as_primitive::<UInt64Type>().iter().collect();
            values.into_pyobject(py)?
        }
        DataType::UInt32 => {
            let values: Vec<Option<u32>> = array.as_primitive::<UInt32Type>().iter().collect();
            values.into_pyobject(py)?
        }
        DataType::Boolean => {
            let values: Vec<Option<bool>> = array.as_boolean().iter().collect();
            values.into_pyobject(py)?
        }
        DataType::Utf8 => {
            let values: Vec<Option<&str>> = array.as_string::<i32>().iter().collect();
            values.into_pyobject(py)?
        }
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int8Type>();
            let words = array.values().as_string::<i32>();
            let word = |key: Option<i8>| key.and_then(|key| usize::try_from(key).ok());
            let values: Vec<Option<&str>> = array
                .keys()
                .iter()
                .map(|key| word(key).map(|key| words.value(key)))
                .collect();
            values.into_pyobject(py)?
        }
        DataType::Timestamp(..) => {
            let moments = py.import("datetime")?.getattr("datetime")?;
            let utc = py.import("datetime")?.getattr("UTC")?;
            let moment = |seconds: Option<i64>| {
                let at = |seconds| moments.call_method1("fromtimestamp", (seconds, &utc));
                seconds.map(at).transpose()
            };
            let values = array
                .as_primitive::<TimestampSecondType>()
                .iter()
                .map(moment);
            values.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "no column has the type {other}"
            )));
        }
    };
    Ok(list)
}

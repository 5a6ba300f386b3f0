//! Export to Apache Parquet, a file of columns that pandas, DuckDB and Spark read.

mod columns;

use std::io::Write;
use std::sync::Arc;

use changes::UnixTime;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::rows::{self, second};
use crate::{Pair, Store, StoreError, StoredVisit, VisitId, pair};

/// Visits in a row group; their raw values are in memory together.
const GROUP: usize = 20_000;

impl Store {
    /// Writes the visits of a pair, or of all pairs, from `from` on and before `to`, with round
    /// trips and rates where they are still there; how many it wrote. In the order of pairs, then
    /// of time.
    ///
    /// # Errors
    /// When the database cannot be read or the output not written.
    pub fn export(
        &mut self,
        pair: Option<&Pair>,
        (from, to): (UnixTime, UnixTime),
        output: impl Write + Send,
    ) -> Result<u64, StoreError> {
        let mut writer = writer(output).map_err(failed)?;
        let mut written = 0;
        let mut group: Vec<StoredVisit> = Vec::new();
        for series in self.series_to_export(pair)? {
            let mut after = (second(from).saturating_sub(1), vec![0xff; 16]);
            loop {
                let page = self.page(series, &after, second(to))?;
                let Some(last) = page.last() else {
                    break;
                };
                after = (second(last.visit.at), last.id.bytes());
                group.extend(page);
                if group.len() >= GROUP {
                    written += flush(&mut writer, &mut group).map_err(failed)?;
                }
            }
        }
        written += flush(&mut writer, &mut group).map_err(failed)?;
        writer.close().map_err(failed)?;
        Ok(written)
    }

    fn series_to_export(&mut self, pair: Option<&Pair>) -> Result<Vec<i64>, StoreError> {
        let all = "SELECT id FROM series ORDER BY task, from_host, to_host";
        let one = "SELECT id FROM series WHERE from_host = $1 AND to_host = $2 ORDER BY task";
        let rows = match pair {
            Some(pair) => {
                let names = [pair.from.as_str().into(), pair.to.as_str().into()];
                self.database.query(one, &names)?
            }
            None => self.database.query(all, &[])?,
        };
        Ok(rows.into_iter().filter_map(|mut row| row.int()).collect())
    }

    /// The next visits of a series behind one.
    fn page(
        &mut self,
        series: i64,
        (at, id): &(i64, Vec<u8>),
        to: i64,
    ) -> Result<Vec<StoredVisit>, StoreError> {
        let select = format!(
            "SELECT v.id, s.from_host, s.to_host, s.task, v.parts, raw.packed, NULL, {}, {} \
             FROM visits AS v JOIN series AS s ON s.id = v.series {} \
             LEFT JOIN raw ON raw.at = v.at AND raw.id = v.id \
             WHERE v.series = $1 AND (v.at, v.id) > ($2, $3) AND v.at < $4 \
             ORDER BY v.at, v.id LIMIT $5",
            rows::FIGURES,
            rows::TEXTS,
            rows::JOINS
        );
        let limit = (GROUP / 4) as i64;
        let values = [
            series.into(),
            (*at).into(),
            id.clone().into(),
            to.into(),
            limit.into(),
        ];
        let found = self.database.query(&select, &values)?;
        let read = |mut row| {
            let id: VisitId = rows::id(&mut row)?;
            pair::loaded(id, row).map(|loaded| loaded.stored)
        };
        let visits: Option<Vec<StoredVisit>> = found.into_iter().map(read).collect();
        visits.ok_or_else(|| self.damaged("a visit is not one"))
    }
}

fn writer<W: Write + Send>(output: W) -> Result<SerializedFileWriter<W>, ParquetError> {
    let schema = parse_message_type(columns::SCHEMA)?;
    let compression = Compression::ZSTD(ZstdLevel::default());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
}

fn flush<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    visits: &mut Vec<StoredVisit>,
) -> Result<u64, ParquetError> {
    if visits.is_empty() {
        return Ok(0);
    }
    let mut group = writer.next_row_group()?;
    for column in columns::of(visits) {
        if let Some(mut place) = group.next_column()? {
            column.write(&mut place)?;
            place.close()?;
        }
    }
    group.close()?;
    let written = visits.len() as u64;
    visits.clear();
    Ok(written)
}

fn failed(error: ParquetError) -> StoreError {
    StoreError::Export {
        what: error.to_string(),
    }
}

#[cfg(test)]
mod tests;

//! Rows of the binary protocol as JSON.

use std::error::Error;
use std::io::Write;

use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::Row;

/// The bytes of a value, whatever its type.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Raw(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

pub fn write_rows(rows: &[Row], write: fn(&mut Vec<u8>, &Row)) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + rows.len() * 400);
    out.push(b'[');
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(&mut out, row);
    }
    out.push(b']');
    out
}

pub fn write_item(out: &mut Vec<u8>, row: &Row) {
    number(out, b"{\"id\":", row.get::<_, i32>(0));
    number(out, b",\"reference\":", row.get::<_, i64>(1));
    text(out, b",\"name\":", row.get(2));
    text(out, b",\"note\":", row.get(3));
    number(out, b",\"price\":", row.get::<_, f64>(4));
    number(out, b",\"score\":", row.get::<_, f64>(5));
    number(out, b",\"active\":", row.get::<_, bool>(6));
    timestamp(out, b",\"created\":", row.get(7), b"+00:00");
    date(out, b",\"due\":", row.get(8));
    document(out, b",\"attributes\":", row.get(9));
    out.push(b'}');
}

pub fn write_typed_item(out: &mut Vec<u8>, row: &Row) {
    number(out, b"{\"id\":", row.get::<_, i32>(0));
    number(out, b",\"small\":", row.get::<_, i16>(1));
    number(out, b",\"big\":", row.get::<_, i64>(2));
    number(out, b",\"price\":", row.get::<_, f64>(3));
    number(out, b",\"ratio\":", row.get::<_, f32>(4));
    number(out, b",\"score\":", row.get::<_, f64>(5));
    text(out, b",\"name\":", row.get(6));
    text(out, b",\"note\":", row.get(7));
    number(out, b",\"active\":", row.get::<_, bool>(8));
    timestamp(out, b",\"created\":", row.get(9), b"+00:00");
    timestamp(out, b",\"local\":", row.get(10), b"");
    date(out, b",\"due\":", row.get(11));
    uuid(out, b",\"token\":", row.get(12));
    document(out, b",\"attributes\":", row.get(13));
    out.extend_from_slice(b",\"tags\":");
    serde_json::to_writer(&mut *out, &row.get::<_, Vec<&str>>(14)).expect("texts are JSON");
    out.push(b'}');
}

fn number<T: scalar::Number>(out: &mut Vec<u8>, key: &[u8], value: T) {
    out.extend_from_slice(key);
    value.write(out);
}

mod scalar {
    /// Numbers and booleans.
    pub trait Number {
        fn write(self, out: &mut Vec<u8>);
    }

    macro_rules! number {
        ($($kind:ty)*) => {$(
            impl Number for $kind {
                fn write(self, out: &mut Vec<u8>) {
                    serde_json::to_writer(out, &self).expect("numbers are JSON");
                }
            }
        )*};
    }

    number!(bool i16 i32 i64 f32 f64);
}

fn text(out: &mut Vec<u8>, key: &[u8], value: Option<&str>) {
    out.extend_from_slice(key);
    serde_json::to_writer(out, &value).expect("texts are JSON");
}

/// Writes a `jsonb`: a version, then the text.
fn document(out: &mut Vec<u8>, key: &[u8], Raw(value): Raw) {
    out.extend_from_slice(key);
    out.extend_from_slice(&value[1..]);
}

fn uuid(out: &mut Vec<u8>, key: &[u8], Raw(value): Raw) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(key);
    out.push(b'"');
    for (index, byte) in value.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
    out.push(b'"');
}

/// Days from 1970-01-01 to 2000-01-01, the zero of PostgreSQL.
const EPOCH_DAYS: i64 = 10_957;
const MICROS_PER_DAY: i64 = 86_400_000_000;

/// Writes the microseconds since 2000-01-01 of a finite timestamp.
fn timestamp(out: &mut Vec<u8>, key: &[u8], Raw(value): Raw, zone: &[u8]) {
    let micros = i64::from_be_bytes(value.try_into().expect("a timestamp has eight bytes"));
    let (year, month, day) = civil(micros.div_euclid(MICROS_PER_DAY) + EPOCH_DAYS);
    let time = micros.rem_euclid(MICROS_PER_DAY);
    let (seconds, fraction) = (time / 1_000_000, time % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    out.extend_from_slice(key);
    write!(out, "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}").expect("memory has space");
    if fraction != 0 {
        write!(out, ".{fraction:06}").expect("memory has space");
    }
    out.extend_from_slice(zone);
    out.push(b'"');
}

/// Writes the days since 2000-01-01 of a finite date.
fn date(out: &mut Vec<u8>, key: &[u8], value: Option<Raw>) {
    out.extend_from_slice(key);
    match value {
        Some(Raw(value)) => {
            let days = i32::from_be_bytes(value.try_into().expect("a date has four bytes"));
            let (year, month, day) = civil(i64::from(days) + EPOCH_DAYS);
            write!(out, "\"{year:04}-{month:02}-{day:02}\"").expect("memory has space");
        }
        None => out.extend_from_slice(b"null"),
    }
}

/// Returns year, month and day of the Gregorian calendar for the days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted_month + 2) / 5 + 1)
}

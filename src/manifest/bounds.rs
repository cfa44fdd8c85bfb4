//! The bounds of a position delete file's `file_path` column: equal ones name the only data file it applies to.

use super::cursor::{Cursor, Fault};
use super::schema::{Field, Type};

/// Field id of `file_path` in position delete files (spec: "Reserved Field IDs").
const DELETE_FILE_PATH: i32 = 2_147_483_546;

/// Reads a map of bounds, which is an array of key-value records, and keeps the one of `file_path`. Other shapes are
/// passed over: the bounds of other files are nobody's concern here.
pub(super) fn of_file_path(cursor: &mut Cursor<'_>, of: &Type) -> Result<Option<Box<str>>, Fault> {
    if !is_map_of_bounds(of) {
        cursor.skip(of)?;
        return Ok(None);
    }
    let mut bound = None;
    cursor.items(of, &mut |cursor, item| {
        cursor.enter_record(item)?;
        let Type::Record(fields) = item.unwrapped() else { return cursor.skip(item) };
        let mut is_path = false;
        for field in fields {
            match field.name.as_str() {
                "key" => is_path = cursor.optional_int(&field.of)? == Some(DELETE_FILE_PATH),
                "value" if is_path => {
                    let bytes = cursor.optional_bytes(&field.of)?;
                    bound = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(Into::into);
                }
                _ => cursor.skip(&field.of)?,
            }
        }
        Ok(())
    })?;
    Ok(bound)
}

fn is_map_of_bounds(of: &Type) -> bool {
    let Type::Array(item) = of.unwrapped() else { return false };
    let Type::Record(fields) = item.unwrapped() else { return false };
    let typed = |name: &str, fits: fn(&Type) -> bool| {
        let named = |field: &&Field| field.name == name;
        fields.iter().find(named).is_some_and(|field| fits(field.of.unwrapped()))
    };
    typed("key", |of| matches!(of, Type::Int | Type::Long)) && typed("value", |of| matches!(of, Type::Bytes { .. }))
}

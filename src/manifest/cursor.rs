//! Avro's binary encoding, read from a slice that may hold anything.

use super::schema::Type;

/// A fault at the cursor's present position; the container knows which block that is.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) expected: String,
    pub(super) found: String,
}

impl Fault {
    pub(super) fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}

/// Reads Avro values in order. A failed read leaves the position where the value starts.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, length: bytes.len() }
    }

    pub(super) fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(Fault::new(format!("{length} bytes"), format!("{} before the end", self.rest.len())));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// An Avro `int` or `long`: a zigzag varint of at most ten bytes.
    pub(super) fn long(&mut self) -> Result<i64, Fault> {
        if let Some((&byte, rest)) = self.rest.split_first()
            && byte < 0x80
        {
            self.rest = rest;
            return Ok(zigzag(u64::from(byte)));
        }
        self.long_of_many_bytes()
    }

    fn long_of_many_bytes(&mut self) -> Result<i64, Fault> {
        let mut bits = 0_u64;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            if index == 9 && byte > 1 {
                break;
            }
            bits |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.rest = self.rest.get(index + 1..).unwrap_or_default();
                return Ok(zigzag(bits));
            }
        }
        let found = if self.rest.len() < 10 { "the end of the data" } else { "a varint of more than 64 bits" };
        Err(Fault::new("an Avro integer", found))
    }

    /// The length before Avro `bytes` and `string`, and the bytes.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let start = self.rest;
        let length = self.long()?;
        let taken = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let Some((taken, rest)) = taken else {
            self.rest = start;
            return Err(Fault::new(
                "a byte length that fits the data",
                format!("{length} with {} bytes left", start.len()),
            ));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn text(&mut self) -> Result<&'a str, Fault> {
        let start = self.rest;
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|fault| {
            self.rest = start;
            Fault::new("UTF-8 text", fault.to_string())
        })
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        match self.rest.split_first() {
            Some((&value @ (0 | 1), rest)) => {
                self.rest = rest;
                Ok(value == 1)
            }
            Some((other, _)) => Err(Fault::new("a boolean (0 or 1)", format!("{other}"))),
            None => Err(Fault::new("a boolean", "the end of the data")),
        }
    }

    /// The branch of a union that was written.
    pub(super) fn branch<'t>(&mut self, branches: &'t [Type]) -> Result<&'t Type, Fault> {
        let start = self.rest;
        let index = self.long()?;
        let branch = usize::try_from(index).ok().and_then(|index| branches.get(index));
        branch.ok_or_else(|| {
            self.rest = start;
            Fault::new(format!("a union branch below {}", branches.len()), index.to_string())
        })
    }

    /// A number of type `of`, or none where the union says null.
    pub(super) fn optional_long(&mut self, of: &Type) -> Result<Option<i64>, Fault> {
        match of {
            Type::Null => Ok(None),
            Type::Int | Type::Long => self.long().map(Some),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.optional_long(branch)
            }
            other => Err(wrong_type("an integer", other)),
        }
    }

    /// A number of type `of` that fits 32 bits, or none.
    pub(super) fn optional_int(&mut self, of: &Type) -> Result<Option<i32>, Fault> {
        let value = self.optional_long(of)?;
        value
            .map(|value| i32::try_from(value).map_err(|_| Fault::new("a 32-bit integer", value.to_string())))
            .transpose()
    }

    /// Text of type `of`, or none.
    pub(super) fn optional_text(&mut self, of: &Type) -> Result<Option<&'a str>, Fault> {
        match of {
            Type::Null => Ok(None),
            Type::Text => self.text().map(Some),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.optional_text(branch)
            }
            other => Err(wrong_type("a string", other)),
        }
    }

    /// Bytes of type `of`, or none.
    pub(super) fn optional_bytes(&mut self, of: &Type) -> Result<Option<&'a [u8]>, Fault> {
        match of {
            Type::Null => Ok(None),
            Type::Bytes { .. } => self.bytes().map(Some),
            Type::Fixed { size, .. } => self.take(*size).map(Some),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.optional_bytes(branch)
            }
            other => Err(wrong_type("bytes", other)),
        }
    }

    /// A boolean of type `of`, or none.
    pub(super) fn optional_boolean(&mut self, of: &Type) -> Result<Option<bool>, Fault> {
        match of {
            Type::Null => Ok(None),
            Type::Boolean => self.boolean().map(Some),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.optional_boolean(branch)
            }
            other => Err(wrong_type("a boolean", other)),
        }
    }

    /// Steps into a record of type `of`, which may be optional but must be there.
    pub(super) fn enter_record(&mut self, of: &Type) -> Result<(), Fault> {
        match of {
            Type::Record(_) => Ok(()),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.enter_record(branch)
            }
            other => Err(wrong_type("a record", other)),
        }
    }

    /// Calls `item` for each item of an array of type `of`; a null array has none and answers `false`.
    pub(super) fn items(
        &mut self,
        of: &Type,
        item: &mut dyn FnMut(&mut Self, &Type) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        match of {
            Type::Null => Ok(false),
            Type::Array(item_type) => {
                while let Some(count) = self.item_count()? {
                    for _ in 0..count {
                        item(self, item_type)?;
                    }
                }
                Ok(true)
            }
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.items(branch, item)
            }
            other => Err(wrong_type("an array", other)),
        }
    }

    /// The number of items in the next block of an array or map, none at its end.
    fn item_count(&mut self) -> Result<Option<usize>, Fault> {
        let start = self.rest;
        let count = self.long()?;
        if count == 0 {
            return Ok(None);
        }
        if count < 0 {
            self.long()?; // the block's size in bytes, for those who skip it
        }
        // Each item takes at least a byte (the schema was checked for that), which bounds the loop over them.
        match usize::try_from(count.unsigned_abs()) {
            Ok(count) if count <= self.rest.len() => Ok(Some(count)),
            _ => {
                self.rest = start;
                Err(Fault::new("an item count that fits the data", format!("{count} with {} bytes left", start.len())))
            }
        }
    }

    /// Passes over one value.
    pub(super) fn skip(&mut self, of: &Type) -> Result<(), Fault> {
        match of {
            Type::Null => Ok(()),
            Type::Boolean => self.take(1).map(drop),
            Type::Int | Type::Long | Type::Enum => self.long().map(drop),
            Type::Float => self.take(4).map(drop),
            Type::Double => self.take(8).map(drop),
            Type::Bytes { .. } | Type::Text => self.bytes().map(drop),
            Type::Fixed { size, .. } => self.take(*size).map(drop),
            Type::Union(branches) => {
                let branch = self.branch(branches)?;
                self.skip(branch)
            }
            Type::Record(fields) => fields.iter().try_for_each(|field| self.skip(&field.of)),
            Type::Array(item) => self.skip_items(|cursor| cursor.skip(item)),
            Type::Map(value) => self.skip_items(|cursor| {
                cursor.bytes()?;
                cursor.skip(value)
            }),
        }
    }

    fn skip_items(&mut self, skip: impl Fn(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        while let Some(count) = self.item_count()? {
            for _ in 0..count {
                skip(self)?;
            }
        }
        Ok(())
    }
}

fn zigzag(bits: u64) -> i64 {
    (bits >> 1).cast_signed() ^ -(bits & 1).cast_signed()
}

fn wrong_type(expected: &str, found: &Type) -> Fault {
    Fault::new(expected, format!("Avro type {}", found.name()))
}

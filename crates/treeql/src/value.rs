//! Values: what callers send, what databases answer, and nothing of how either is spelled.

/// A value that owns its bytes, as it is bound to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A 64-bit signed integer.
    Int(i64),
    /// A double precision number.
    Float(f64),
    /// Text in UTF-8; the database converts it to the type of the column.
    Text(Box<str>),
    /// Raw bytes.
    Bytes(Box<[u8]>),
}

/// A cell of a row, borrowed from the driver's buffer: the narrow waist between drivers and encoders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    /// SQL NULL.
    Null,
    /// A truth value, from engines that have a type for it.
    Bool(bool),
    /// A 64-bit signed integer.
    Int(i64),
    /// A double precision number.
    Float(f64),
    /// A number as the engine spells it, handed through without parsing.
    Number(&'a str),
    /// Text in UTF-8.
    Text(&'a str),
    /// Raw bytes, or text that is not valid UTF-8.
    Bytes(&'a [u8]),
}

impl<'a> ValueRef<'a> {
    /// Text, or bytes if it is not valid UTF-8.
    pub fn of_text(bytes: &'a [u8]) -> ValueRef<'a> {
        std::str::from_utf8(bytes).map_or(ValueRef::Bytes(bytes), ValueRef::Text)
    }
}

/// A row that a driver lends for the time of one call.
pub trait Row {
    /// The cell at `index`, counted from 0 in the order of the statement's columns.
    fn get(&self, index: usize) -> ValueRef<'_>;
}

impl Value {
    /// The same value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(int) => ValueRef::Int(*int),
            Value::Float(float) => ValueRef::Float(*float),
            Value::Text(text) => ValueRef::Text(text),
            Value::Bytes(bytes) => ValueRef::Bytes(bytes),
        }
    }
}
